import { describe, expect, it } from 'vitest';
import type { HttpResponse } from '../../http/response.ts';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

describe('responses to chunked requests', () => {
  const chunked = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  const streamed = () =>
    ok(
      (async function* () {
        yield new Uint8Array([104, 105]);
      })(),
    );

  it.each<[what: string, body: () => HttpResponse, isWhole: (text: string) => boolean]>([
    ['streamed', streamed, (text) => text.endsWith('hi\r\n0\r\n\r\n')],
    // Larger than the system's buffers: the rest waits until the client reads.
    ['large', () => ok('x'.repeat(20_000_000)), (text) => text.length > 20_000_000],
    ['small', () => ok('small'), (text) => text.endsWith('small')],
    ['empty', () => ({ status: 204, headers: [] }), (text) => text.endsWith('\r\n\r\n')],
  ])(
    'a request after a chunked request with a response that is %s is never run',
    async (_what, response, isWhole) => {
      const handled: string[] = [];
      const listening = await listen(async ({ path }) => {
        handled.push(path);
        return response();
      });
      const { socket, text } = await dial(listening);
      // The client does not read at first, so a large response has to wait.
      socket.pause();
      socket.write(chunked('/first'));
      await until(() => expect(handled).toEqual(['/first']));
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.resume();
      await until(() => expect(isWhole(text())).toBe(true));
      socket.write(get('/smuggled'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(handled).toEqual(['/first']);
    },
  );

  it('a request that arrives during the response to a chunked request is never run', async () => {
    const handled: string[] = [];
    const listening = await listen(async ({ path }) => {
      handled.push(path);
      return ok('x'.repeat(20_000_000));
    });
    const { socket, closed } = await dial(listening);
    socket.pause();
    socket.write(chunked('/first'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.write(get('/smuggled'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    socket.resume();
    await closed;
    expect(handled).toEqual(['/first']);
  });
});
