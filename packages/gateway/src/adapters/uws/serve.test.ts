import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { serve } from './serve.ts';
import { chunkedPost, dial, get, listenOn, ok, recorded, streamOf, until } from '../testing/dial.ts';
import { recordingHandler } from '../testing/sockets.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';

const listen = listenOn(serve);

// A bug once ended the process here.
it('WebSockets open whose upgrades are accepted while the request of another connection is read', async () => {
  let release = Promise.withResolvers<void>();
  const echo: SocketAcceptor = (socket) => ({
    ...recordingHandler(socket),
    inFlight: 0,
    message: (data) => socket.send(data.toString()),
  });
  const listening = await listen({
    handle() {
      release.resolve();
      return ok('released');
    },
    upgrade: () => release.promise.then(() => echo),
  });
  for (let round = 0; round < 20; round += 1) {
    release = Promise.withResolvers();
    const clients = [1, 2, 3].map(() => new WebSocket(`ws://127.0.0.1:${listening.port}/`));
    const responses = clients.map(async (client) => {
      await once(client, 'open');
      client.send('hi');
      await once(client, 'message');
      client.close();
    });
    // All three upgrades wait for their release.
    await until(() => expect(listening.inFlight()).toBe(3));
    await dial(listening, get('/release'));
    await Promise.all(responses);
  }
});

const chunked = `${chunkedPost('/first')}0\r\n\r\n`;
it.each<[what: string, body: () => HttpResponse, isWhole: (text: string) => boolean]>([
  ['streamed', () => ok(streamOf('hi')), (text) => text.endsWith('hi\r\n0\r\n\r\n')],
  // Larger than the system's buffers: the rest waits until the client reads.
  ['large', () => ok('x'.repeat(20_000_000)), (text) => text.length > 20_000_000],
  ['small', () => ok('small'), (text) => text.endsWith('small')],
  ['empty', () => ({ status: 204, headers: [] }), (text) => text.endsWith('\r\n\r\n')],
])(
  'a request after a chunked request with a response that is %s is never run',
  async (_what, response, isWhole) => {
    const { handle, handled } = recorded(async () => response());
    const { socket, text } = await dial(await listen(handle));
    // The client does not read at first, so a large response has to wait.
    socket.pause();
    socket.write(chunked);
    await until(() => expect(handled).toEqual(['/first']));
    await sleep(50);
    socket.resume();
    await until(() => expect(isWhole(text())).toBe(true));
    socket.write(get('/smuggled'));
    await sleep(100);
    expect(handled).toEqual(['/first']);
  },
);

it('a request that arrives during the response to a chunked request is never run', async () => {
  const { handle, handled } = recorded(async () => ok('x'.repeat(20_000_000)));
  const { socket, closed } = await dial(await listen(handle), chunked);
  socket.pause();
  await sleep(100);
  socket.write(get('/smuggled'));
  await sleep(100);
  socket.resume();
  await closed;
  expect(handled).toEqual(['/first']);
});

it.each([
  ['POST', 'closes'],
  ['PUT', 'closes'],
  ['PATCH', 'closes'],
  ['DELETE', 'keeps'],
  ['GET', 'keeps'],
  // uWebSockets.js takes any value of five letters for `close`.
  ['GET', 'closes', 'Connection: other\r\n'],
])('a %s without a length %s its connection after the response', async (method, ending, option = '') => {
  const listening = await listen(({ path }) => ok(path));
  const { text, closed } = await dial(listening, `${method} /p HTTP/1.1\r\nHost: x\r\n${option}\r\n`);
  await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\/p$/s));
  const actualEnding = await Promise.race([closed.then(() => 'closes'), sleep(200, 'keeps')]);
  expect(actualEnding).toBe(ending);
  expect(/\r\nConnection: close\r\n/i.test(text())).toBe(ending === 'closes');
});

it('a POST with a Content-Length after a header with an empty name closes its connection, and its body is never run as a request', async () => {
  const { handle, handled } = recorded(() => ok());
  const listening = await listen(handle);
  const body = get('/smuggled');
  const requestText = `POST /p HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (let at = requestText.indexOf('\n') + 1; at <= requestText.length; at += 1) {
    const { socket, closed } = await dial(listening, requestText.slice(0, at));
    await sleep(2);
    socket.write(requestText.slice(at));
    await closed;
  }
  expect(new Set(handled)).toEqual(new Set(['/p']));
});

it.each([
  [true, 1],
  [false, 0],
])('serve warns that a proxy must close idle connections first: %s', async (isBehindProxy, count) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  await listen({ handle: () => ok(), isBehindProxy });
  const warnings = warn.mock.calls.map(([warning]) => String(warning));
  const expected = /^trustProxy is set, but uWebSockets\.js closes .* within 8 s; or serve with/;
  expect(warnings.map((warning) => expected.test(warning))).toEqual(Array(count).fill(true));
});
