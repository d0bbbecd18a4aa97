import { setTimeout as sleep } from 'node:timers/promises';
import type { Socket } from 'node:net';
import { inputs } from '@petstore/testing/forms';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { Handle } from '../../http/service.ts';
import { BodyBuffer } from './bodyBuffer.ts';
import { adapters, dial, ok, until } from './testing/dial.ts';

const mebibyte = 1024 * 1024;

describe.each(adapters)('on $adapter', ({ listen }) => {
  interface Upload {
    readonly socket: Socket;
    readonly text: () => string;
    /** How many bytes of the body have left for the server. */
    readonly sent: () => number;
  }

  /** Serves `handle` and sends it a body, as fast as it is taken; of one that is cut less than is announced. */
  async function upload(handle: Handle, bytes: number, announced = bytes): Promise<Upload> {
    const listening = await listen({ handle, maxBodyBytes: 100 * mebibyte });
    const { socket, text } = await dial(listening);
    socket.write(`POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${announced}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes));
    return { socket, text, sent: () => socket.bytesWritten - socket.writableLength };
  }

  const sizeOf = async (chunks: AsyncIterable<Uint8Array>) => {
    let size = 0;
    for await (const chunk of chunks) size += chunk.byteLength;
    return size;
  };

  describe('a body that is taken in chunks', () => {
    it('comes no faster than it is read', async () => {
      const held = Promise.withResolvers<void>();
      let request: HttpRequest | undefined;
      const { sent, text } = await upload(async (received) => {
        request = received;
        const chunks = received.bodyChunks(64 * mebibyte)[Symbol.asyncIterator]();
        const first = await chunks.next();
        await held.promise;
        let size = first.value?.byteLength ?? 0;
        for (let next = await chunks.next(); !next.done; next = await chunks.next())
          size += next.value.byteLength;
        return ok(String(size));
      }, 64 * mebibyte);
      await sleep(300);
      expect(request).toBeDefined();
      // What the kernel keeps for both ends.
      expect(sent()).toBeLessThan(24 * mebibyte);
      held.resolve();
      await until(() => expect(text()).toMatch(new RegExp(`\\r\\n\\r\\n${64 * mebibyte}$`)));
    });

    it('is not buffered whole before it is read', async () => {
      const held = Promise.withResolvers<void>();
      const { sent, text } = await upload(async (request) => {
        await held.promise;
        return ok(String((await request.body(64 * mebibyte)).byteLength));
      }, 64 * mebibyte);
      await sleep(300);
      expect(sent()).toBeLessThan(24 * mebibyte);
      held.resolve();
      await until(() => expect(text()).toMatch(new RegExp(`\\r\\n\\r\\n${64 * mebibyte}$`)));
    });

    it('fails as soon as it is known to be too large', async () => {
      const { text } = await upload(
        (request) =>
          sizeOf(request.bodyChunks(mebibyte)).then(
            () => ok('taken'),
            (error: unknown) => ok(String(error instanceof BodyTooLargeError)),
          ),
        2 * mebibyte,
      );
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
        'begun and not read on',
        (request) => {
          const chunks = request.bodyChunks(64 * mebibyte)[Symbol.asyncIterator]();
          return chunks.next();
        },
      ],
      ['not asked for', () => sleep(50)],
    ])('and is %s is thrown away: the connection serves the next request', async (_how, read) => {
      const { socket, text } = await upload(async (request) => {
        if (request.path === '/p') await read(request);
        return ok(request.path);
      }, mebibyte);
      await until(() => expect(text()).toContain('\r\n\r\n/p'));
      socket.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
      await until(() => expect(text()).toContain('\r\n\r\n/next'));
    });

    it.each([1100, 1500, 1900, 2047, 2300, 3000])(
      'and is refused, of %d KiB: either the response closes the connection, or it serves the next request',
      async (kibibytes) => {
        const { socket, text } = await upload(async (request) => {
          // Long enough for all that the server takes of it.
          if (request.path === '/p') await request.body(1024).catch(() => sleep(50));
          return ok(request.path);
        }, kibibytes * 1024);
        await until(() => expect(text()).toContain('\r\n\r\n/p'));
        if (/^connection: close\r$/im.test(text())) return;
        socket.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
        await until(() => expect(text()).toContain('\r\n\r\n/next'));
      },
    );

    it('fails where its client goes away', async () => {
      let taken = 0;
      let failure: unknown;
      const { socket } = await upload(
        async (request) => {
          try {
            for await (const chunk of request.bodyChunks(mebibyte)) taken += chunk.byteLength;
          } catch (error) {
            failure = error;
          }
          return ok();
        },
        1000,
        mebibyte,
      );
      await until(() => expect(taken).toBe(1000));
      socket.destroy();
      await until(() => expect(failure).toMatchObject({ name: 'AbortError' }));
    });
  });

  describe('a small body that has arrived with its head', () => {
    const post = (body: string) =>
      `POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const read: Record<string, (request: HttpRequest) => Promise<Uint8Array | undefined>> = {
      'at once, by bodyNow': async (request) => {
        const body = request.bodyNow?.(100);
        await sleep(20);
        return body;
      },
      'at once, by body': async (request) => {
        const body = await request.body(100);
        await sleep(20);
        return body;
      },
      'later, by bodyNow': async (request) => {
        await sleep(20);
        return request.bodyNow?.(100);
      },
      'later, by body': async (request) => {
        await sleep(20);
        return request.body(100);
      },
      'later, in chunks': async (request) => {
        await sleep(20);
        const chunks = [];
        for await (const chunk of request.bodyChunks(100)) chunks.push(chunk);
        return Buffer.concat(chunks);
      },
    };

    it.each(Object.keys(read))(
      'is its own when it is read %s, whatever others send meanwhile',
      async (how) => {
        const listening = await listen(async (request) => {
          const body = await read[how]?.(request);
          return ok(`<${String(body && Buffer.from(body))}>`);
        });
        const clients = await Promise.all(
          ['first', 'other', 'third'].map(async (body) => Object.assign(await dial(listening), { body })),
        );
        for (const { socket, body } of clients) socket.write(post(body));
        for (const { text, body } of clients) await until(() => expect(text()).toContain(`<${body}>`));
      },
    );

    it('is not given by bodyNow where it is larger than its reader allows, and not twice', async () => {
      const listening = await listen((request) => {
        const sizes = [3, 4, 4].map((maxBytes) => request.bodyNow?.(maxBytes)?.byteLength);
        return ok(JSON.stringify(sizes.map((size) => size ?? 'none')));
      });
      const { socket, text } = await dial(listening);
      socket.write(post('four'));
      await until(() => expect(text()).toContain('["none",4,0]'));
    });
  });
});

describe('BodyBuffer', () => {
  const source = { controlBody: () => {} };
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(100_000), fc.constant(65_536)), { maxLength: 20 });

  /** Chunks whose bytes differ, of which those that must be copied are overwritten behind `push`. */
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

  it('passes on all bytes in their order, whole and in chunks', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.boolean(), fc.boolean(), async (lengths, isOwn, isWhole) => {
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

  it('takes no more memory than its bytes where a connection is read on after it is paused', async () => {
    const buffer = new BodyBuffer(NaN, Infinity, source);
    const chunks = buffer.chunks(Infinity);
    const read = chunks.next();
    const chunk = new Uint8Array(mebibyte / 2);
    const before = process.memoryUsage().arrayBuffers;
    for (let at = 0; at < 64; at += 1) buffer.push(chunk, false);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(36 * mebibyte);
    expect((await read).value?.byteLength).toBe(mebibyte / 2);
  });
});
