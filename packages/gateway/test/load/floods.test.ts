import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { describe, expect, it } from 'vitest';
import { type Adapter, adapterOfRun } from '../adapters.ts';
import { briefFloodNames, briefFloods, measureFlood, visitHealth } from './floods.ts';
import { startPetsUnderLoad } from './petsUnderLoad.ts';

const adapter = adapterOfRun();
/** Bun runs beside the first adapter, from Node: Vitest on Bun cannot start processes. */
const bun = adapter === 'uws' ? runtimesToTest('bun') : [];
const servers: readonly (readonly [adapter: Adapter, executable: string])[] = [
  ...(adapter === 'fetch' ? [] : [[adapter, process.execPath] as const]),
  ...bun.map(({ executable }) => ['bun', executable] as const),
];

describe.each(servers)('on %s', (name, executable) => {
  it.each(briefFloodNames)(
    'other clients are served, and the process grows by at most 100 MB: %s',
    async (flood) => {
      const { problems } = await measureFlood(() => startPetsUnderLoad(name, executable), flood, briefFloods);
      expect(problems).toEqual([]);
    },
  );
});

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
