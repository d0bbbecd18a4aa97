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
    const requests = [
      { method: 'GET', path: '/sum?a=1', headers: {} },
      { method: 'POST', path: '/sum', headers: { 'transfer-encoding': 'chunked' }, body: 'twenty' },
      { method: 'POST', path: '/sum', headers: { connection: 'close' }, body: '20' },
    ] as const;
    const server = createServer((request, response) => {
      const { headers, method, url } = request;
      const { 'transfer-encoding': encoding, 'content-length': length, connection } = headers;
      void text(request).then((body) => {
        received.add([method, url, encoding, length, connection, body].join(' '));
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      await wrk({ port, requests, connections: 2, seconds: 0.5, expectsErrors: false });
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(received).toEqual(
      new Set(['GET /sum?a=1    ', 'POST /sum chunked   twenty', 'POST /sum  2 close 20']),
    );
  },
);
