import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, lazy, tracked, TRPCError } from '@trpc/server';
import { octetInputParser, type TRPCRequestInfo } from '@trpc/server/http';
import { observable } from '@trpc/server/observable';
import superjson from 'superjson';
import { z } from 'zod';
import type { LiveCalls } from './liveCalls.ts';

/** The context on every server: the `info` of the request and the counters of running calls. */
export interface Context {
  readonly calls: LiveCalls;
  readonly seen: SeenInfo;
}

/** tRPC's `info` in comparable form: JSON values, and the path without the server's port. */
export interface SeenInfo {
  readonly batch: boolean;
  readonly calls: readonly string[];
  readonly type: string;
  readonly accept: string | null;
  readonly connectionParams: Readonly<Record<string, string | undefined>> | null;
  readonly path: string | null;
  readonly hasSignal: boolean;
}

/** Converts the `info` that a server passes to `createContext`; a REST call has none. */
export function seenInfo(info: TRPCRequestInfo | undefined): SeenInfo {
  return {
    batch: info?.isBatchCall ?? false,
    calls: info?.calls.map(({ path }) => path) ?? [],
    type: info?.type ?? 'rest',
    accept: info?.accept ?? null,
    connectionParams: info?.connectionParams ?? null,
    path: info?.url?.pathname ?? null,
    hasSignal: info?.signal instanceof AbortSignal,
  };
}

/** tRPC's stream options, which are set on the router. */
export type StreamOptions = Pick<
  NonNullable<Parameters<ReturnType<typeof initTRPC.context<Context>>['create']>[0]>,
  'sse' | 'jsonl'
>;

const Range = z.object({
  from: z.int().default(1),
  to: z.int(),
  everyMs: z.int().default(0),
  /** Set by tRPC on reconnect. */
  lastEventId: z.string().optional(),
});

/** Creates a router with a procedure for each feature of the tRPC protocol. */
export function createRpcRouter({ sse, jsonl }: StreamOptions = {}) {
  const t = initTRPC
    .context<Context>()
    .meta<GatewayMeta>()
    .create({
      isDev: false,
      ...(sse && { sse }),
      ...(jsonl && { jsonl }),
      errorFormatter: ({ shape, error }) => ({
        ...shape,
        data: { ...shape.data, formatted: error.code === 'CONFLICT' ? 'by the formatter' : null },
      }),
    });
  const queries = {
    hello: t.procedure
      .input(z.object({ name: z.string() }).optional())
      .query(({ input }) => `Hello, ${input?.name ?? 'world'}!`),
    nothing: t.procedure.query(() => undefined),
    nil: t.procedure.query(() => null),
    seen: t.procedure.query(({ ctx }) => ctx.seen),
    large: t.procedure.input(z.int()).query(({ input }) => 'x'.repeat(input)),
    throwError: t.procedure
      .input(z.enum(['BAD_REQUEST', 'CONFLICT', 'SERVICE_UNAVAILABLE', 'INTERNAL_SERVER_ERROR']))
      .query(({ input }) => {
        throw new TRPCError({ code: input, message: `This is ${input}` });
      }),
    slow: t.procedure
      .meta({ openapi: { method: 'GET', path: '/slow' } })
      .input(z.object({ ms: z.int() }))
      .output(z.string())
      .query(async ({ input, ctx, signal }) => {
        const end = ctx.calls.begin('slow', signal);
        try {
          await sleep(input.ms, undefined, { signal });
          return 'done';
        } finally {
          end();
        }
      }),
  };

  const mutations = {
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/things' } })
      .input(z.object({ name: z.string() }))
      .output(z.object({ id: z.int(), name: z.string() }))
      .mutation(({ input }) => ({ id: 1, ...input })),
    touch: t.procedure.mutation(() => undefined),
    slowWrite: t.procedure
      .meta({ openapi: { method: 'POST', path: '/slow' } })
      .input(z.object({ ms: z.int() }))
      .output(z.string())
      .mutation(async ({ input, ctx, signal }) => {
        const end = ctx.calls.begin('slowWrite', signal);
        try {
          await sleep(input.ms, undefined, { signal });
          return 'written';
        } finally {
          end();
        }
      }),
    upload: t.procedure.input(z.instanceof(FormData)).mutation(async ({ input }) => {
      const fields: [string, string][] = [];
      for (const [name, value] of input) {
        fields.push([
          name,
          typeof value === 'string' ? value : `${value.name} ${value.type} ${digest(await value.bytes())}`,
        ]);
      }
      return fields;
    }),
    bytes: t.procedure.input(octetInputParser).mutation(async ({ input, ctx, signal }) => {
      const end = ctx.calls.begin('bytes', signal);
      try {
        const received: Uint8Array[] = [];
        for await (const chunk of input as AsyncIterable<Uint8Array>) received.push(chunk);
        const all = Buffer.concat(received);
        return { length: all.length, digest: digest(all) };
      } finally {
        end();
      }
    }),
  };

  const streams = {
    /** JSON lines send each pending promise on a separate line once it settles. */
    promises: t.procedure.query(() => ({
      now: 'now',
      later: sleep(20, 'later'),
      broken: sleep(40).then(() => {
        throw new TRPCError({ code: 'CONFLICT', message: 'It broke on the way' });
      }),
    })),
    iterable: t.procedure.input(z.int()).query(async function* ({ input }) {
      for (let n = 1; n <= input; n += 1) yield n;
      return 'the end';
    }),
    iterableFails: t.procedure.query(async function* () {
      yield 1;
      throw new TRPCError({ code: 'CONFLICT', message: 'It failed in the middle' });
    }),
    forever: t.procedure.query(async function* ({ ctx, signal }) {
      const end = ctx.calls.begin('forever', signal);
      try {
        for (let n = 1; ; n += 1) {
          yield n;
          await sleep(5, undefined, { signal });
        }
      } finally {
        end();
      }
    }),
    floodLines: t.procedure.query(async function* ({ ctx, signal }) {
      yield* flood(ctx.calls, 'floodLines', signal);
    }),
  };

  const subscriptions = {
    count: t.procedure.input(Range).subscription(async function* ({ input, signal }) {
      for (let n = input.from; n <= input.to; n += 1) {
        yield n;
        if (input.everyMs > 0) await sleep(input.everyMs, undefined, { signal });
      }
    }),
    /** Resumes after `lastEventId`. With `failAt`, a run from the start throws at that event. */
    numbered: t.procedure.input(Range.extend({ failAt: z.int().optional() })).subscription(async function* ({
      input,
      ctx,
      signal,
    }) {
      const end = ctx.calls.begin('numbered', signal);
      try {
        const first = input.lastEventId === undefined ? input.from : Number(input.lastEventId) + 1;
        for (let n = first; n <= input.to; n += 1) {
          if (n === input.failAt && first === input.from)
            throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Once' });
          yield tracked(String(n), { n });
          if (input.everyMs > 0) await sleep(input.everyMs, undefined, { signal });
        }
      } finally {
        end();
      }
    }),
    /** A tracked event, then an untracked one: the client must keep the last id. */
    mixed: t.procedure.subscription(async function* () {
      yield tracked('a', 1);
      yield 2;
      yield tracked('b', 3);
    }),
    failsAfter: t.procedure.input(z.int()).subscription(async function* ({ input }) {
      for (let n = 1; n <= input; n += 1) yield n;
      throw new TRPCError({ code: 'CONFLICT', message: `After ${input} events` });
    }),
    observed: t.procedure.input(z.int()).subscription(({ input, ctx, signal }) =>
      observable<number>((observer) => {
        const end = ctx.calls.begin('observed', signal);
        // One timer: the order of several timers that are due together depends on their delays.
        let n = 0;
        const timer = setInterval(() => {
          n += 1;
          if (n <= input) observer.next(n);
          else observer.complete();
        }, 2);
        return () => {
          clearInterval(timer);
          end();
        };
      }),
    ),
    observedForever: t.procedure.subscription(({ ctx, signal }) =>
      observable<number>((observer) => {
        const end = ctx.calls.begin('observedForever', signal);
        observer.next(1);
        return end;
      }),
    ),
    observedFails: t.procedure.subscription(() =>
      observable<number>((observer) => {
        observer.next(1);
        observer.error(new TRPCError({ code: 'CONFLICT', message: 'The observable failed' }));
      }),
    ),
    watch: t.procedure.subscription(async function* ({ ctx, signal }) {
      const end = ctx.calls.begin('watch', signal);
      try {
        yield ctx.seen;
        await sleep(60_000, undefined, { signal });
      } finally {
        end();
      }
    }),
    /** Endless events, one every `everyMs` milliseconds, of about `bytes` bytes each. */
    ticks: t.procedure
      .input(
        z.object({
          everyMs: z.int().min(1),
          bytes: z.int().min(0).default(0),
          lastEventId: z.string().optional(),
        }),
      )
      .subscription(async function* ({ input, ctx, signal }) {
        const end = ctx.calls.begin('ticks', signal);
        const padding = 'x'.repeat(input.bytes);
        try {
          for (let n = input.lastEventId === undefined ? 1 : Number(input.lastEventId) + 1; ; n += 1) {
            yield tracked(String(n), { n, at: Date.now(), padding });
            await sleep(input.everyMs, undefined, { signal });
          }
        } finally {
          end();
        }
      }),
    floodEvents: t.procedure.subscription(async function* ({ ctx, signal }) {
      yield* flood(ctx.calls, 'floodEvents', signal);
    }),
  };

  return t.router({
    ...queries,
    ...mutations,
    ...streams,
    ...subscriptions,
    later: lazy(async () => ({
      default: t.router({
        hello: t.procedure.query(() => 'loaded'),
        count: t.procedure.subscription(async function* () {
          yield 1;
          yield 2;
        }),
      }),
    })),
  });
}

export type RpcRouter = ReturnType<typeof createRpcRouter>;

const superjsonBuilder = initTRPC.context<Context>().create({ isDev: false, transformer: superjson });

/** A router with a transformer: values that JSON cannot represent, over every kind of call. */
export const superjsonRouter = superjsonBuilder.router({
  rich: superjsonBuilder.procedure.query(() => richValue()),
  throwError: superjsonBuilder.procedure.query(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'Transformed too' });
  }),
  events: superjsonBuilder.procedure.subscription(async function* () {
    yield tracked('1', richValue());
    yield tracked('2', richValue());
  }),
});

/** Returns values that superjson supports and JSON does not. */
const richValue = () => ({
  at: new Date('2020-02-29T12:00:00Z'),
  big: 9_007_199_254_740_993n,
  set: new Set(['a', 'b']),
  map: new Map([['k', 1]]),
  missing: undefined,
  expression: /a+/gi,
});

/** Yields chunks of 64 KiB as fast as they are read. */
async function* flood(calls: LiveCalls, name: string, signal: AbortSignal | undefined) {
  const end = calls.begin(name, signal);
  const chunk = 'x'.repeat(65_536);
  try {
    for (;;) {
      signal?.throwIfAborted();
      calls.pulled += 1;
      yield chunk;
      // Yield to the event loop: a producer that never waits would block the process.
      await new Promise(setImmediate);
    }
  } finally {
    end();
  }
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
