import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { everyForm } from '@petstore/testing/forms';
import { expect, it } from 'vitest';
import { needs } from '../servers.ts';
import { briefFloods, measureFloods, visitHealth } from './floods.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

const options = { ...briefFloods, seconds: 0.3 };

// In the form that runs everything, apps/server/src/load.test.ts has longer ones, against the process on both adapters.
it.skipIf(everyForm)(
  'a server under floods of pipelined requests, one-byte chunks and endless bodies serves other clients without delay',
  { timeout: 120_000 },
  async () => {
    needs('a port');
    const { problems } = await measureFloods(startPetsUnderLoad, options);
    expect(problems).toEqual([]);
  },
);

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
