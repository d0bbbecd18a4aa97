import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { dial, get, ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';

describe('requests without Content-Length and Transfer-Encoding', () => {
  it.each([
    ['POST', 'closes'],
    ['PUT', 'closes'],
    ['PATCH', 'closes'],
    ['DELETE', 'keeps'],
    ['GET', 'keeps'],
  ])('a %s without a length %s its connection after the response', async (method, ending) => {
    const listening = await listen(({ path }) => ok(path));
    const { socket, text, closed } = await dial(listening);
    socket.write(`${method} /p HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\/p$/s));
    const actualEnding = await Promise.race([closed.then(() => 'closes'), sleep(200, 'keeps')]);
    expect(actualEnding).toBe(ending);
    expect(/\r\nConnection: close\r\n/.test(text())).toBe(ending === 'closes');
  });
});

describe('a Content-Length after a header with an empty name', () => {
  it('a POST with a Content-Length after a header with an empty name closes its connection, and its body is never run as a request', async () => {
    const handled: string[] = [];
    const listening = await listen(({ path }) => {
      handled.push(path);
      return ok();
    });
    const body = get('/smuggled');
    const requestText = `POST /p HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let at = requestText.indexOf('\n') + 1; at <= requestText.length; at += 1) {
      const { socket, closed } = await dial(listening);
      socket.write(requestText.slice(0, at));
      await sleep(2);
      socket.write(requestText.slice(at));
      await closed;
    }
    expect(new Set(handled)).toEqual(new Set(['/p']));
  });
});
