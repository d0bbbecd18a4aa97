import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, tracked, TRPCError } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { observable } from '@trpc/server/observable';
import { z } from 'zod';
import type { LiveCalls } from './liveCalls.ts';

export interface Context {
  readonly calls: LiveCalls;
}

/** Creates a router with a procedure for each feature of the tRPC protocol. */
export function createRpcRouter() {
  const t = initTRPC
    .context<Context>()
    .meta<GatewayMeta>()
    .create({
      isDev: false,
      errorFormatter: ({ shape, error }) => ({
        ...shape,
        data: { ...shape.data, formatted: error.code === 'CONFLICT' ? 'by the formatter' : null },
      }),
    });
  const queries = {
    hello: t.procedure
      .input(z.object({ name: z.string() }).optional())
      .query(({ input }) => `Hello, ${input?.name ?? 'world'}!`),
    large: t.procedure.input(z.int()).query(({ input }) => 'x'.repeat(input)),
    conflict: t.procedure.query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'This is a conflict' });
    }),
    slow: t.procedure
      .meta({ openapi: { method: 'GET', path: '/slow' } })
      .input(z.object({ ms: z.int() }))
      .output(z.string())
      .query(({ input, ctx, signal }) =>
        ctx.calls.run('slow', signal, () => sleep(input.ms, 'done', { signal })),
      ),
  };

  const mutations = {
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/things' } })
      .input(z.object({ name: z.string() }))
      .output(z.object({ id: z.int(), name: z.string() }))
      .mutation(({ input }) => ({ id: 1, ...input })),
    slowWrite: t.procedure
      .meta({ openapi: { method: 'POST', path: '/slow' } })
      .input(z.object({ ms: z.int() }))
      .output(z.string())
      .mutation(({ input, ctx, signal }) =>
        ctx.calls.run('slowWrite', signal, () => sleep(input.ms, 'written', { signal })),
      ),
    upload: t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => [...input].length),
    bytes: t.procedure.input(octetInputParser).mutation(({ input, ctx, signal }) =>
      ctx.calls.run('bytes', signal, async () => {
        let length = 0;
        for await (const chunk of input as AsyncIterable<Uint8Array>) length += chunk.length;
        return length;
      }),
    ),
  };

  const streams = {
    forever: t.procedure.query(({ ctx, signal }) => ctx.calls.stream('forever', signal, count(5, signal))),
    floodLines: t.procedure.query(({ ctx, signal }) => ctx.calls.stream('floodLines', signal, flood(signal))),
  };

  const subscriptions = {
    count: t.procedure.input(z.object({ to: z.int() })).subscription(async function* ({ input }) {
      for (let n = 1; n <= input.to; n += 1) yield n;
    }),
    observedForever: t.procedure.subscription(({ ctx, signal }) =>
      observable<number>((observer) => {
        const end = ctx.calls.begin('observedForever', signal);
        observer.next(1);
        return end;
      }),
    ),
    watch: t.procedure.subscription(({ ctx, signal }) =>
      ctx.calls.stream('watch', signal, count(60_000, signal)),
    ),
    /** Endless events, one every `everyMs` milliseconds. */
    ticks: t.procedure.input(z.object({ everyMs: z.int().min(1) })).subscription(async function* ({
      input,
      ctx,
      signal,
    }) {
      const numbers = ctx.calls.stream('ticks', signal, count(input.everyMs, signal));
      for await (const n of numbers) yield tracked(String(n), { n });
    }),
    floodEvents: t.procedure.subscription(({ ctx, signal }) =>
      ctx.calls.stream('floodEvents', signal, flood(signal)),
    ),
  };

  return t.router({
    ...queries,
    ...mutations,
    ...streams,
    ...subscriptions,
  });
}

export type RpcRouter = ReturnType<typeof createRpcRouter>;

/** Yields the numbers from 1 on, one every `ms` milliseconds. */
async function* count(ms: number, signal: AbortSignal | undefined) {
  for (let n = 1; ; n += 1) {
    yield n;
    await sleep(ms, undefined, { signal });
  }
}

/** Yields chunks of 64 KiB as fast as they are read. */
async function* flood(signal: AbortSignal | undefined) {
  const chunk = 'x'.repeat(65_536);
  for (;;) {
    signal?.throwIfAborted();
    yield chunk;
    // Yield to the event loop: a producer that never waits would block the process.
    await new Promise(setImmediate);
  }
}
