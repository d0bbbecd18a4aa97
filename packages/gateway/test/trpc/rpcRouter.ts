import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, tracked, TRPCError } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { observable } from '@trpc/server/observable';
import { z } from 'zod';

/** Counts calls, so that a test can observe aborts. */
export class LiveCalls {
  running = 0;
  started = 0;
  aborted = 0;

  /** Counts a started call. Returns a function that counts its end. */
  begin(signal: AbortSignal | undefined): () => void {
    this.running += 1;
    this.started += 1;
    signal?.addEventListener('abort', () => (this.aborted += 1), { once: true });
    return () => {
      this.running -= 1;
    };
  }

  /** Counts a call until its promise settles. */
  run<Result>(signal: AbortSignal | undefined, call: () => Promise<Result>): Promise<Result> {
    return call().finally(this.begin(signal));
  }

  /** Counts a call until its values have ended. */
  async *stream<Value>(signal: AbortSignal | undefined, values: AsyncIterable<Value>) {
    const end = this.begin(signal);
    try {
      yield* values;
    } finally {
      end();
    }
  }
}

const Ms = z.object({ ms: z.int() });

/** Creates a router with a procedure for each feature of the tRPC protocol. */
export function createRpcRouter() {
  const t = initTRPC
    .context<{ readonly calls: LiveCalls }>()
    .meta<GatewayMeta>()
    .create({
      isDev: false,
      errorFormatter: ({ shape, error }) => ({
        ...shape,
        data: { ...shape.data, formatted: error.code === 'CONFLICT' ? 'by the formatter' : null },
      }),
    });
  return t.router({
    hello: t.procedure.query(() => 'Hello, world!'),
    large: t.procedure.input(z.int()).query(({ input }) => 'x'.repeat(input)),
    conflict: t.procedure.query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'This is a conflict' });
    }),
    slow: t.procedure
      .meta({ openapi: { method: 'GET', path: '/slow' } })
      .input(Ms)
      .output(z.string())
      .query(({ input, ctx, signal }) => ctx.calls.run(signal, () => sleep(input.ms, 'done', { signal }))),
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/things' } })
      .input(z.object({ name: z.string() }))
      .output(z.object({ id: z.int(), name: z.string() }))
      .mutation(({ input }) => ({ id: 1, ...input })),
    slowWrite: t.procedure
      .meta({ openapi: { method: 'POST', path: '/slow' } })
      .input(Ms)
      .output(z.string())
      .mutation(({ input, ctx, signal }) =>
        ctx.calls.run(signal, () => sleep(input.ms, 'written', { signal })),
      ),
    upload: t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => [...input].length),
    bytes: t.procedure.input(octetInputParser).mutation(({ input, ctx, signal }) =>
      ctx.calls.run(signal, async () => {
        let length = 0;
        for await (const chunk of input as AsyncIterable<Uint8Array>) length += chunk.length;
        return length;
      }),
    ),
    forever: t.procedure.query(({ ctx, signal }) => ctx.calls.stream(signal, count(5, signal))),
    floodLines: t.procedure.query(({ ctx, signal }) => ctx.calls.stream(signal, flood(signal))),
    count: t.procedure.input(z.object({ to: z.int() })).subscription(async function* ({ input }) {
      for (let n = 1; n <= input.to; n += 1) yield n;
    }),
    observedForever: t.procedure.subscription(({ ctx, signal }) =>
      observable<number>((observer) => {
        const end = ctx.calls.begin(signal);
        observer.next(1);
        return end;
      }),
    ),
    watch: t.procedure.subscription(({ ctx, signal }) => ctx.calls.stream(signal, count(60_000, signal))),
    /** Endless events, one every `ms` milliseconds. */
    ticks: t.procedure.input(Ms).subscription(async function* ({ input, ctx, signal }) {
      for await (const n of ctx.calls.stream(signal, count(input.ms, signal)))
        yield tracked(String(n), { n });
    }),
    floodEvents: t.procedure.subscription(({ ctx, signal }) => ctx.calls.stream(signal, flood(signal))),
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
