import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { reservePort, serve } from './serve.ts';
import { chunkedPost, dial, get, listenOn, ok, streamOf, takenPort, until } from '../serve/testing/dial.ts';
import type { HttpResponse } from '../../http/response.ts';

const listen = listenOn(serve);

// Only Linux distributes connections with SO_REUSEPORT.
describe.runIf(process.platform === 'linux')('shared ports', () => {
  it('reusePort rejects with in-use if the other process does not share the port', async () => {
    const port = await takenPort();
    await expect(serve({ handle: () => ok() }, { port, reusePort: true })).rejects.toMatchObject({
      code: 'in-use',
    });
  });

  it('reservePort holds a port until servers listen on it', async () => {
    const { port, release } = await reservePort('127.0.0.1', 0);
    const listening = await listen(() => ok('held'), { port, reusePort: true });
    release();
    await until(async () => {
      const { text } = await dial(listening, get('/'));
      await until(() => expect(text()).toContain('held'));
    });
  });
});

it('WebSockets open whose upgrades are accepted while the request of another connection is read', async () => {
  const script = fileURLToPath(new URL('testing/concurrentUpgrades.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe('60 of 60 opened\n');
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
    const handled: string[] = [];
    const listening = await listen(async ({ path }) => {
      handled.push(path);
      return response();
    });
    const { socket, text } = await dial(listening);
    // The client does not read at first, so a large response has to wait.
    socket.pause();
    socket.write(chunked);
    await until(() => expect(handled).toEqual(['/first']));
    await sleep(50);
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
  const { socket, closed } = await dial(listening, chunked);
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, 100));
  socket.write(get('/smuggled'));
  await new Promise((resolve) => setTimeout(resolve, 100));
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
  const handled: string[] = [];
  const listening = await listen(({ path }) => {
    handled.push(path);
    return ok();
  });
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
  [
    true,
    [
      [
        expect.stringMatching(/^trustProxy is set, but uWebSockets\.js closes .* within 8 s; or serve with/),
        expect.anything(),
      ],
    ],
  ],
  [false, []],
])('serve warns that a proxy must close idle connections first: %s', async (isBehindProxy, warnings) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  await listen({ handle: () => ok(), isBehindProxy });
  expect(warn.mock.calls).toEqual(warnings);
});
