import { once } from 'node:events';
import { createReadStream, type ReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { fileURLToPath } from 'node:url';
import { initTRPC, tracked, TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { z } from 'zod';

/** A router with subscriptions, responses of bytes, and a form with files. */

const t = initTRPC
  .meta<GatewayMeta>()
  .create({ sse: { ping: { enabled: true, intervalMs: 300 }, maxDurationMs: 1000 } });
const Tick = z.object({ n: z.int() }).meta({ id: 'Tick' });
const subscription = (path: `/${string}`) =>
  t.procedure.meta({ openapi: { method: 'GET', path, event: Tick } });
const bytes = (path: `/${string}`) =>
  t.procedure.meta({ openapi: { method: 'GET', path, produces: 'image/png' } });
export const png = new Uint8Array([137, 80, 78, 71, 0, 255]);

/** The files that `file` has opened. */
export const files: ReadStream[] = [];

/** Counts the streams of `endless` and of `text` that were cancelled. */
export const cancelled = { streams: 0, texts: 0 };

/** Counts the subscriptions of `quiet` and `unlisted` that run. */
export const quiet = { running: 0 };

/** Counts the calls of `away`, of which every other one fails. */
export const away = { calls: 0 };

export const mediaRouter = t.router({
  ticks: subscription('/ticks')
    .input(z.object({ from: z.int().default(1), to: z.int(), lastEventId: z.int().optional() }))
    .subscription(async function* ({ input }) {
      for (let n = (input.lastEventId ?? input.from - 1) + 1; n <= input.to; n += 1) {
        yield tracked(String(n), { n, secret: 'that no schema names' });
      }
    }),
  forbidden: subscription('/forbidden').subscription(async function* () {
    await sleep(20);
    if (quiet.running >= 0) throw new TRPCError({ code: 'FORBIDDEN', message: 'Not you.' });
    yield { n: 1 };
  }),
  away: subscription('/away').subscription(async function* () {
    away.calls += 1;
    if (away.calls % 2 === 1) throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Later.' });
    yield { n: away.calls };
  }),
  breaks: subscription('/breaks').subscription(async function* () {
    yield { n: 1 };
    throw new TRPCError({ code: 'CONFLICT', message: 'It broke.' });
  }),
  lies: subscription('/lies').subscription(async function* () {
    yield { n: 'one' };
  }),
  quiet: subscription('/quiet').subscription(async function* ({ signal }) {
    quiet.running += 1;
    try {
      await once(signal ?? new EventTarget(), 'abort');
      yield { n: 1 };
    } finally {
      quiet.running -= 1;
    }
  }),
  clock: subscription('/clock')
    .input(z.object({ lastEventId: z.int().default(0) }))
    .subscription(async function* ({ input, signal }) {
      const n = input.lastEventId + 1;
      yield tracked(String(n), { n });
      await once(signal ?? new EventTarget(), 'abort');
    }),
  observed: subscription('/observed').subscription(() =>
    observable<{ n: number }>((observer) => {
      observer.next({ n: 1 });
      observer.complete();
    }),
  ),
  stubborn: subscription('/stubborn').subscription(async function* ({ signal }) {
    try {
      await once(signal ?? new EventTarget(), 'abort');
      yield { n: 1 };
    } finally {
      // oxlint-disable-next-line no-unsafe-finally -- this is what is tested
      throw new Error('It does not end well.');
    }
  }),
  unlisted: t.procedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/unlisted',
        event: Tick,
        headers: {
          'X-Broken': {
            description: 'None.',
            value: () => {
              throw new Error('No header.');
            },
          },
        },
      },
    })
    .subscription(async function* ({ signal }) {
      quiet.running += 1;
      try {
        await once(signal ?? new EventTarget(), 'abort');
        yield { n: 1 };
      } finally {
        quiet.running -= 1;
      }
    }),
  text: bytes('/bytes/text').query(async function* () {
    try {
      yield png;
      yield 'a,b' as unknown as Uint8Array;
      for (;;) yield png;
    } finally {
      cancelled.texts += 1;
    }
  }),
  file: bytes('/bytes/file').query(() => {
    const stream = createReadStream(fileURLToPath(import.meta.url));
    files.push(stream);
    return stream;
  }),
  array: bytes('/bytes/array').query(() => png),
  blob: bytes('/bytes/blob').query(() => new Blob([png], { type: 'image/gif' })),
  untyped: bytes('/bytes/untyped').query(() => new Blob([png])),
  stream: bytes('/bytes/stream').query(() => new Blob([png]).stream()),
  iterable: bytes('/bytes/iterable').query(async function* () {
    yield png.subarray(0, 3);
    yield png.subarray(3);
  }),
  endless: bytes('/bytes/endless').query(
    () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(png),
        cancel() {
          cancelled.streams += 1;
        },
      }),
  ),
  none: bytes('/bytes/none').query(() => 'text' as unknown as Uint8Array),
});
