import { setTimeout as sleep } from 'node:timers/promises';
import { inputs } from '@petstore/testing/forms';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { Handle } from '../../http/service.ts';
import { BodyBuffer, ChunkCounter } from './bodyBuffer.ts';
import { adapters, chunkedPost, dial, get, ok, post, until } from '../testing/dial.ts';

const mebibyte = 1024 * 1024;

describe.each(adapters)('on $adapter', ({ listen }) => {
  /** Serves `handle` and sends it a body of `bytes` bytes. */
  async function upload(handle: Handle, bytes: number) {
    const client = await dial(await listen({ handle, maxBodySize: 100 * mebibyte }), post('', bytes));
    client.socket.write(Buffer.alloc(bytes));
    return client;
  }

  const sizeOf = async (chunks: AsyncIterable<Uint8Array>) => {
    let size = 0;
    for await (const chunk of chunks) size += chunk.byteLength;
    return size;
  };

  it('bodyChunks applies backpressure to the client', async () => {
    const held = Promise.withResolvers<void>();
    let request: HttpRequest | undefined;
    const { text } = await upload(async (received) => {
      request = received;
      let size = 0;
      for await (const chunk of received.bodyChunks(64 * mebibyte)) {
        if (size === 0) await held.promise;
        size += chunk.byteLength;
      }
      return ok(String(size));
    }, 64 * mebibyte);
    let earlier: number | undefined = 0;
    await vi.waitFor(
      () => {
        const before = earlier;
        earlier = request?.receivedBytes;
        expect(earlier, 'the server still receives').toBe(before);
      },
      { interval: 200 },
    );
    expect(earlier).toBeGreaterThan(0);
    expect(earlier).toBeLessThan(24 * mebibyte);
    held.resolve();
    await until(() => expect(text()).toMatch(new RegExp(`\\r\\n\\r\\n${64 * mebibyte}$`)));
  });

  it.each([
    ['its reader by its Content-Length', mebibyte, Infinity, post('x'.repeat(2 * mebibyte))],
    [
      'the service, even if its reader allows more',
      1000,
      10,
      `${chunkedPost()}b\r\n${'x'.repeat(11)}\r\n0\r\n\r\n`,
    ],
  ])('bodyChunks rejects a body over the limit of %s', async (_whose, maxBytes, maxStreamSize, bytes) => {
    const handle: Handle = (request) =>
      sizeOf(request.bodyChunks(maxBytes)).then(
        () => ok('read'),
        (error: unknown) => ok(String(error instanceof BodyTooLargeError)),
      );
    const { text } = await dial(await listen({ handle, maxStreamSize }), bytes);
    await until(() => expect(text()).toMatch(/\r\n\r\ntrue$/));
  });

  it.each<[how: string, read: (request: HttpRequest) => Promise<unknown>]>([
    [
      'left after a chunk',
      async (request) => {
        for await (const _ of request.bodyChunks(64 * mebibyte)) break;
      },
    ],
    [
      'started and not read to its end',
      (request) => {
        const chunks = request.bodyChunks(64 * mebibyte)[Symbol.asyncIterator]();
        return chunks.next();
      },
    ],
    ['not read', () => sleep(50)],
  ])('a body that is %s is dropped, and the connection serves the next request', async (_how, read) => {
    const { socket, text } = await upload(async (request) => {
      if (request.path === '/p') await read(request);
      return ok(request.path);
    }, mebibyte);
    await until(() => expect(text()).toContain('\r\n\r\n/p'));
    socket.write(get('/next'));
    await until(() => expect(text()).toContain('\r\n\r\n/next'));
  });

  it.each([1100, 1500, 1900, 2047, 2300, 3000])(
    'a connection with a rejected body of %d KiB is closed by the response or serves the next request',
    async (kibibytes) => {
      const { socket, text } = await upload(async (request) => {
        // Long enough for the server to receive all that it accepts.
        if (request.path === '/p') await request.body(1024).catch(() => sleep(50));
        return ok(request.path);
      }, kibibytes * 1024);
      await until(() => expect(text()).toContain('\r\n\r\n/p'));
      if (/^connection: close\r$/im.test(text())) return;
      socket.write(get('/next'));
      await until(() => expect(text()).toContain('\r\n\r\n/next'));
    },
  );

  const read = {
    bodyNow: (request: HttpRequest) => request.bodyNow?.(100),
    body: (request: HttpRequest) => request.body(100),
    bodyChunks: async (request: HttpRequest) => {
      const chunks = [];
      for await (const chunk of request.bodyChunks(100)) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };

  it.each([
    ['at once', 'bodyNow'],
    ['at once', 'body'],
    ['later', 'bodyNow'],
    ['later', 'body'],
    ['later', 'bodyChunks'],
  ] as const)('a small body read %s, by %s, is not affected by other requests', async (when, how) => {
    const listening = await listen(async (request) => {
      if (when === 'later') await sleep(20);
      const body = await read[how](request);
      if (when === 'at once') await sleep(20);
      return ok(`<${String(body && Buffer.from(body))}>`);
    });
    const clients = await Promise.all(
      ['first', 'other', 'third'].map(async (body) => Object.assign(await dial(listening), { body })),
    );
    for (const { socket, body } of clients) socket.write(post(body));
    for (const { text, body } of clients) await until(() => expect(text()).toContain(`<${body}>`));
  });

  it('bodyNow returns undefined for a body over its limit, and an empty body the second time', async () => {
    const listening = await listen((request) => {
      const sizes = [3, 4, 4].map((maxBytes) => request.bodyNow?.(maxBytes)?.byteLength);
      return ok(JSON.stringify(sizes.map((size) => size ?? 'none')));
    });
    const { text } = await dial(listening, post('four'));
    await until(() => expect(text()).toContain('["none",4,0]'));
  });
});

const source = { controlBody: () => {}, onBodyEnd: () => {} };
const manySizes = fc.array(fc.oneof(fc.nat(100), fc.nat(100_000), fc.constant(65_536)), { maxLength: 20 });

/** Pushes chunks with different bytes. Chunks that the buffer must copy are overwritten after `push`. */
function pushAll(buffer: BodyBuffer, lengths: readonly number[], isOwn: boolean): Buffer {
  const sent: Buffer[] = [];
  lengths.forEach((length, at) => {
    const chunk = new Uint8Array(length).map((_, index) => index * 31 + at);
    sent.push(Buffer.from(chunk));
    buffer.push(chunk, at === lengths.length - 1, isOwn);
    if (!isOwn) chunk.fill(0);
  });
  return Buffer.concat(sent);
}

it('BodyBuffer returns all bytes in order, whole and in chunks', async () => {
  await fc.assert(
    fc.asyncProperty(manySizes, fc.boolean(), fc.boolean(), async (lengths, isOwn, isWhole) => {
      const buffer = new BodyBuffer(NaN, Infinity, source);
      const sent = pushAll(buffer, [...lengths, 0], isOwn);
      const chunks = [];
      if (isWhole) chunks.push(await buffer.read(Infinity));
      else for await (const chunk of buffer.chunks(Infinity)) chunks.push(chunk);
      expect(sent.equals(Buffer.concat(chunks))).toBe(true);
      expect(new Set(chunks.map((chunk) => chunk.buffer)).size).toBe(chunks.length);
    }),
    { numRuns: inputs(100) },
  );
});

it('BodyBuffer takes no more memory than its bytes if a connection is read after it was paused', async () => {
  const buffer = new BodyBuffer(NaN, Infinity, source);
  const chunks = buffer.chunks(Infinity);
  const read = chunks.next();
  const chunk = new Uint8Array(mebibyte / 2);
  const before = process.memoryUsage().arrayBuffers;
  for (let at = 0; at < 64; at += 1) buffer.push(chunk, false);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(36 * mebibyte);
  expect((await read).value?.byteLength).toBe(mebibyte / 2);
});

it.each<[what: string, sizes: readonly number[], floodAt: number | undefined]>([
  ['1,001 chunks of one byte', Array(1001).fill(1), 1001],
  ['100 chunks of 1 KiB and then of one byte', [...Array(100).fill(1024), ...Array(5000).fill(1)], 3301],
  [
    'chunks of one byte and of 40 in turn',
    Array.from({ length: 2000 }, (_, at) => (at % 2 === 0 ? 1 : 40)),
    1001,
  ],
  ['10,000 chunks of 64 bytes', Array(10_000).fill(64), undefined],
])(
  'of %s in one turn of the event loop, ChunkCounter takes the first that are too many for a flood',
  (_what, sizes, floodAt) => {
    const counter = new ChunkCounter();
    const at = sizes.findIndex((size) => counter.isFlood(new Uint8Array(size)));
    expect(at === -1 ? undefined : at + 1).toBe(floodAt);
  },
);

it('ChunkCounter counts the chunks of each turn of the event loop for itself', async () => {
  const counter = new ChunkCounter();
  for (let turn = 0; turn < 3; turn += 1) {
    for (let chunks = 0; chunks < 1000; chunks += 1) expect(counter.isFlood(new Uint8Array(1))).toBe(false);
    await new Promise(setImmediate);
  }
});

it('a body of which too much was dropped before the response will end its connection', async () => {
  const buffer = new BodyBuffer(1.5 * mebibyte, Infinity, source);
  await expect(buffer.read(1024)).rejects.toThrow(BodyTooLargeError);
  buffer.push(new Uint8Array(0.75 * mebibyte), false);
  // The rest is shorter than what is dropped, but no more than that is read of the whole.
  expect(buffer.exceedsDiscardLimit).toBe(true);
});
