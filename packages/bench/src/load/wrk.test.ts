import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { checkWrk, wrk } from './wrk.ts';

const hasWrk = await checkWrk().then(
  () => process.platform === 'linux',
  () => false,
);
if (!hasWrk) process.stdout.write('SKIPPED: the load by wrk: it needs Linux and wrk.\n');

it.skipIf(!hasWrk)(
  'the load sends several requests in turn, bodies with a length or in chunks, and connects again after a close',
  async () => {
    const received = new Set<string>();
    const server = createServer((request, response) => {
      const { headers, method } = request;
      void text(request).then((body) => {
        received.add([method, headers['transfer-encoding'], headers.connection, body].join(' '));
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const post = { method: 'POST', path: '/' } as const;
    const requests = [
      { method: 'GET', path: '/', headers: {} },
      { ...post, headers: { 'transfer-encoding': 'chunked' }, body: 'twenty' },
      { ...post, headers: { connection: 'close' }, body: '20' },
    ] as const;
    const { port } = server.address() as AddressInfo;
    await wrk({ port, requests, connections: 2, seconds: 0.5 });
    server.close();
    server.closeAllConnections();
    expect(received).toEqual(new Set(['GET   ', 'POST chunked  twenty', 'POST  close 20']));
  },
);
