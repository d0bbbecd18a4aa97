import { setTimeout as sleep } from 'node:timers/promises';
import { slowness } from '@petstore/testing/slowness';
import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, streamed, streamOf, until } from '../testing/dial.ts';

describe.each(adapters)('on $adapter', ({ listen }) => {
  it('a streamed response is pulled no faster than the socket takes it', async () => {
    let pulled = 0;
    const chunk = new Uint8Array(256 * 1024);
    const listening = await listen(() =>
      ok(
        (async function* () {
          for (; pulled < 200; pulled += 1) yield chunk;
        })(),
      ),
    );
    const { socket } = await dial(listening, get('/'));
    socket.pause();
    await sleep(300);
    expect(pulled).toBeLessThan(60);
    let received = 0;
    socket.on('data', (data) => (received += data.length));
    socket.resume();
    await until(() => expect(received).toBeGreaterThan(200 * chunk.byteLength));
  });

  it('a streamed response with an empty chunk is complete', async () => {
    const listening = await listen(() => ok(streamOf('a', '', 'b')));
    const { text: received } = await dial(listening, get('/'));
    await until(() => expect(received()).toMatch(streamed('a', 'b')));
  });

  const small = 'x'.repeat(60_000);
  const large = 'x'.repeat(20_000_000);
  const tiny = 'x'.repeat(900);

  async function serveSizes(maxUnsentSize?: number) {
    let handled = 0;
    const responses = { '/small': small, '/large': large, '/tiny': tiny };
    const listening = await listen(
      ({ path }) => {
        handled += 1;
        return ok(responses[path as keyof typeof responses]);
      },
      maxUnsentSize === undefined ? {} : { maxUnsentSize },
    );
    /** Opens a client that sends requests until its socket takes no more responses. */
    const fill = async () => {
      const client = await dial(listening);
      const before = listening.inFlight();
      client.socket.pause();
      let requestCount = 0;
      do {
        client.socket.write(get('/small'));
        requestCount += 1;
      } while ((await handles(handled + 1)) && listening.inFlight() === before);
      return { ...client, requestCount };
    };
    /** Whether the number of handled requests reaches `count` soon. */
    const handles = async (count: number) => {
      for (let left = 300 * slowness; left > 0; left -= 1) {
        if (handled >= count) return true;
        await sleep(1);
      }
      return false;
    };
    return { listening, fill, handled: () => handled, handles };
  }

  it('a connection with tiny responses is closed when its socket takes no more', async () => {
    const { listening, handled, handles } = await serveSizes();
    const { socket, closed } = await dial(listening);
    socket.pause();
    let requestCount = 0;
    // The kernel buffers some megabytes of the responses, which are 1 KB each with their heads.
    do {
      socket.write(get('/tiny').repeat(100));
      requestCount += 100;
    } while ((await handles(requestCount)) && requestCount < 40_000);
    expect(handled()).toBeLessThan(20_000);
    socket.resume();
    await closed;
  });

  it('unread responses are complete after the client reads again', async () => {
    const { listening, fill } = await serveSizes();
    const { requestCount, socket, text } = await fill();
    expect(listening.inFlight()).toBe(1);
    socket.resume();
    await until(() => expect(text().length).toBeGreaterThan(requestCount * small.length));
    expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(requestCount);
    await until(() => expect(listening.inFlight()).toBe(0));
    socket.write(get('/small'));
    await until(() => expect(text().match(/HTTP\/1\.1 200/g)).toHaveLength(requestCount + 1));
  });

  it('over maxUnsentSize, a large response is replaced by 503 and an unread small one closes the connection', async () => {
    const { listening, fill } = await serveSizes(1_000_000);
    const first = await dial(listening, get('/large'));
    first.socket.pause();
    await until(() => expect(listening.inFlight()).toBe(1));

    const second = await dial(listening, get('/large'));
    await until(() => expect(second.text()).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1.*waiting to be read/s));
    second.socket.write(get('/small'));
    await until(() => expect(second.text()).toContain(small));

    const { closed, socket } = await fill();
    socket.resume();
    await closed;

    first.socket.resume();
    await until(() => expect(first.text().length).toBeGreaterThan(large.length));
    second.socket.write(get('/large'));
    await until(() => expect(second.text().length).toBeGreaterThan(large.length));
  });
});
