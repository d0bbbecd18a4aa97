import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { visitHealth } from './floods.ts';

it.each([
  ['end', true],
  ['destroy', true],
  ['write', false],
] as const)(
  'visitHealth: a server that calls socket.%s() on a request leaves it unanswered: %s',
  async (method, isUnanswered) => {
    const visited = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (method === 'write') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        else socket[method]();
        visited.resolve();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');

    const { unanswered } = await visitHealth((server.address() as AddressInfo).port, visited.promise);

    server.close();
    expect(unanswered > 0).toBe(isUnanswered);
  },
);
