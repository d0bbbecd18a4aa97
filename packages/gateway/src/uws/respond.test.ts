import { describe, expect, it } from 'vitest';
import { dial, get, listen, ok, until } from './testing/dial.ts';

describe('a response that is streamed', () => {
  it('is pulled no faster than the socket takes it', async () => {
    let pulled = 0;
    const chunk = new Uint8Array(256 * 1024);
    const listening = await listen(() =>
      ok(
        (async function* () {
          for (; pulled < 200; pulled += 1) yield chunk;
        })(),
      ),
    );
    const { socket } = await dial(listening);
    socket.pause();
    socket.write(get('/'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(pulled).toBeLessThan(60);
    let received = 0;
    socket.on('data', (data) => (received += data.length));
    socket.resume();
    await until(() => expect(received).toBeGreaterThan(200 * chunk.byteLength));
  });

  it('is stopped where its client goes away', async () => {
    let isStopped = false;
    const listening = await listen(() =>
      ok(
        (async function* () {
          try {
            for (;;) {
              yield new Uint8Array(10);
              await new Promise((resolve) => setTimeout(resolve, 5));
            }
          } finally {
            isStopped = true;
          }
        })(),
      ),
    );
    const { socket, text: received } = await dial(listening);
    socket.write(get('/'));
    await until(() => expect(received()).toContain('chunked'));
    socket.destroy();
    await until(() => expect(isStopped).toBe(true));
  });

  it('is framed as it should be where its connection is to end', async () => {
    const listening = await listen(() => ({
      ...ok(
        (async function* () {
          yield new Uint8Array([104, 105]);
        })(),
      ),
    }));
    const { socket, text: received } = await dial(listening);
    socket.write('POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
    await until(() => expect(received()).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\n\r\n$/));
    expect(received().match(/connection: .*/gi)).toEqual(['connection: close']);
  });

  it('that fails ends the connection: nobody takes the part for the whole', async () => {
    const listening = await listen(() =>
      ok(
        (async function* () {
          yield new Uint8Array([97]);
          throw new Error('no');
        })(),
      ),
    );
    const { socket, text: received, closed } = await dial(listening);
    socket.write(get('/'));
    await closed;
    expect(received()).not.toContain('\r\n0\r\n');
  });
});
