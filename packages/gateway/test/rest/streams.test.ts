import { once } from 'node:events';
import { createReadStream, type ReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { initTRPC, tracked, TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import { EventSource } from 'eventsource';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { has } from '../servers.ts';
import { openShape } from '../startShape.ts';

const t = initTRPC
  .meta<GatewayMeta>()
  .create({ sse: { ping: { enabled: true, intervalMs: 300 }, maxDurationMs: 1000 } });
const Tick = z.object({ n: z.int() }).meta({ id: 'Tick' });
const subscription = (path: `/${string}`) =>
  t.procedure.meta({ openapi: { method: 'GET', path, event: Tick } });
const bytes = (path: `/${string}`) =>
  t.procedure.meta({ openapi: { method: 'GET', path, produces: 'image/png' } });
const png = new Uint8Array([137, 80, 78, 71, 0, 255]);

/** The files that `file` has opened. */
const files: ReadStream[] = [];

/** Counts the streams of `endless` and of `text` that were cancelled. */
const cancelled = { streams: 0, texts: 0 };

/** Counts the subscriptions of `quiet` and `unlisted` that run. */
const quiet = { running: 0 };

async function* untilAborted({ signal }: { readonly signal: AbortSignal | undefined }) {
  quiet.running += 1;
  try {
    await once(signal ?? new EventTarget(), 'abort');
    yield { n: 1 };
  } finally {
    quiet.running -= 1;
  }
}

/** Counts the calls of `away`, of which every other one fails. */
const away = { calls: 0 };

const mediaRouter = t.router({
  ticks: subscription('/ticks')
    .input(z.object({ from: z.int().default(1), to: z.int(), lastEventId: z.int().optional() }))
    .subscription(async function* ({ input }) {
      for (let n = (input.lastEventId ?? input.from - 1) + 1; n <= input.to; n += 1) {
        yield tracked(String(n), { n, secret: 'that no schema names' });
      }
    }),
  away: subscription('/away').subscription(async function* () {
    away.calls += 1;
    if (away.calls % 2 === 1) throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Later.' });
    yield { n: away.calls };
  }),
  quiet: subscription('/quiet').subscription(untilAborted),
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
    .subscription(untilAborted),
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
});

const { close, document, origin, records, rest, server } = await openShape(mediaRouter);
afterAll(close);

/** The number of quiet subscriptions that run, and of requests that the adapter counts. */
const running = () => [quiet.running, has('a count of its connections') ? server.inFlight() : quiet.running];

const get = (path: string, headers: Record<string, string> = {}) => rest(path, { headers });

describe('a subscription over REST', () => {
  it('a subscription sends events with ids, stripped by their schema, and an end event', async () => {
    const response = await get('/ticks?to=2');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    // Without it, nginx keeps events back.
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(await response.text()).toBe(
      'data: {"n":1}\nid: 1\n\ndata: {"n":2}\nid: 2\n\nevent: end\ndata: \n\n',
    );
  });

  it('a subscription continues after Last-Event-ID or lastEventId, which is converted like a parameter', async () => {
    const text = 'data: {"n":3}\nid: 3\n\nevent: end\ndata: \n\n';
    expect(await (await get('/ticks?to=3', { 'last-event-id': '2' })).text()).toBe(text);
    expect(await (await get('/ticks?to=3&lastEventId=2')).text()).toBe(text);
    const invalid = await get('/ticks?to=3', { 'last-event-id': 'two' });
    expect(invalid.status).toBe(400);
    expect(await invalid.json()).toMatchObject({ message: expect.stringContaining('lastEventId: must be') });
  });

  it('an error that may pass is the last event of a stream for EventSource, which connects again', async () => {
    away.calls = 0;
    const response = await get('/away');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    away.calls = 0;
    const source = new EventSource(`${origin}/v1/away`, { fetch: server.fetch });
    onTestFinished(() => source.close());
    const received: string[] = [];
    for (const type of ['error', 'message'] as const)
      source.addEventListener(type, (event) => 'data' in event && received.push(String(event.data)));
    const body = '{"code":"SERVICE_UNAVAILABLE","message":"Later.","status":503}';
    await vi.waitFor(() => expect(received).toEqual([body, '{"n":2}']), { timeout: 10_000 });
  });

  it('a subscription ends after maxDurationMs, and an EventSource continues after the last event', async () => {
    const source = new EventSource(`${origin}/v1/clock`, { fetch: server.fetch });
    onTestFinished(() => source.close());
    const received: number[] = [];
    source.addEventListener('message', ({ data }) => received.push(JSON.parse(data).n));
    // Each connection lasts one second and has one event.
    await vi.waitFor(() => expect(received).toEqual([1, 2]));
  });

  it('a subscription that throws at the end of maxDurationMs ends, and the server continues', async () => {
    expect(await (await get('/stubborn')).text()).toMatch(/^(:\n\n)+$/);
    expect((await get('/ticks?to=1')).status).toBe(200);
  });

  it('a subscription stops if its response headers throw', async () => {
    expect((await get('/unlisted')).status).toBe(500);
    await vi.waitFor(() => expect(quiet.running).toBe(0));
  });

  it('a subscription can return an observable', async () => {
    expect(await (await get('/observed')).text()).toBe('data: {"n":1}\n\nevent: end\ndata: \n\n');
  });

  it('a quiet subscription sends pings, and stops when its client disconnects', async () => {
    const stopping = new AbortController();
    const response = await rest('/quiet', { signal: stopping.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(':\n\n');
    expect(running()).toEqual([1, 1]);
    stopping.abort();
    await vi.waitFor(() => expect(running()).toEqual([0, 0]));
  });

  it('HEAD of a subscription is answered with the headers, and the subscription stops', async () => {
    const response = await rest('/quiet', { method: 'HEAD' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('content-length')).toBeNull();
    await vi.waitFor(() => expect(running()).toEqual([0, 0]));
  });

  it('the document describes the events of a subscription, Last-Event-ID and the errors', () => {
    const operation = document.paths['/ticks']?.['get'];
    expect(operation?.responses['200']?.content).toEqual({
      'text/event-stream': { schema: { $ref: '#/components/schemas/Tick' } },
    });
    expect(operation?.parameters?.map(({ name, in: place }) => `${place} ${name}`)).toContain(
      'header Last-Event-ID',
    );
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '500', '503', '504']);
  });
});

describe('a response of bytes', () => {
  it.each([
    ['array', 'image/png'],
    ['blob', 'image/gif'],
    ['untyped', 'image/png'],
    ['stream', 'image/png'],
    ['iterable', 'image/png'],
  ])('GET /bytes/%s is answered with bytes of the type %s', async (kind, type) => {
    const response = await get(`/bytes/${kind}`);
    expect(response.headers.get('content-type')).toBe(type);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(png);
  });

  it('a stream that yields a string is cancelled and aborts the connection, so that the client does not accept a part as complete', async () => {
    const begun = records.length;
    await expect(get('/bytes/text').then((response) => response.arrayBuffer())).rejects.toThrow(
      // The errors of clients over a port and in process.
      /terminated|fetch failed|Yield Uint8Array chunks/,
    );
    await vi.waitFor(() =>
      expect(records[begun]).toMatchObject({
        operation: 'text',
        isStream: true,
        error: expect.any(TypeError),
      }),
    );
    await vi.waitFor(() => expect(cancelled.texts).toBe(1));
  });

  it('a file stream is closed after GET and after HEAD', async () => {
    await (await get('/bytes/file')).arrayBuffer();
    await rest('/bytes/file', { method: 'HEAD' });
    await vi.waitFor(() => expect(files.map(({ closed }) => closed)).toEqual([true, true]));
  });

  it('a ReadableStream is cancelled when its client disconnects, and after HEAD', async () => {
    const stopping = new AbortController();
    const response = await rest('/bytes/endless', { signal: stopping.signal });
    await response.body?.getReader().read();
    expect(cancelled.streams).toBe(0);
    stopping.abort();
    await vi.waitFor(() => expect(cancelled.streams).toBe(1));
    await rest('/bytes/endless', { method: 'HEAD' });
    await vi.waitFor(() => expect(cancelled.streams).toBe(2));
  });
});
