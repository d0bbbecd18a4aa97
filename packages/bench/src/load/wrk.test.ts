import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { checkWrk, wrk } from './wrk.ts';

const hasWrk = await checkWrk().then(
  () => process.platform === 'linux',
  () => false,
);
if (!hasWrk) process.stdout.write('SKIPPED: the load by wrk: it needs Linux and wrk.\n');

it.skipIf(!hasWrk)(
  'the load gives each request an id of its own and its sessions in turn, where the request has sessions',
  async () => {
    const ids: unknown[] = [];
    const used = new Set<unknown>();
    const server = createServer((req, res) => {
      let body = '';
      req
        .setEncoding('utf8')
        .on('data', (text: string) => (body += text))
        .on('end', () => {
          ids.push((JSON.parse(body) as { readonly id: unknown }).id);
          used.add(req.headers['mcp-session-id']);
          res.end('{}');
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const request = {
      method: 'POST',
      path: '/mcp',
      headers: { 'mcp-session-id': 'session-1' },
      body: '{"jsonrpc":"2.0","id":1,"params":{"categoryId":1}}',
      sessions: 3,
    } as const;
    const { port } = server.address() as AddressInfo;
    try {
      await wrk({ port, requests: [request], connections: 4, seconds: 0.5, expectsErrors: false });
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(used).toEqual(new Set(['session-0', 'session-1', 'session-2']));
  },
);

it.skipIf(!hasWrk)(
  'the load sends several requests in turn, bodies with a length or in chunks, and connects again after a close',
  async () => {
    const received: string[] = [];
    const server = createServer((req, res) => {
      let body = '';
      req
        .setEncoding('utf8')
        .on('data', (text: string) => (body += text))
        .on('end', () => {
          const { 'transfer-encoding': encoding, 'content-length': length, connection } = req.headers;
          received.push([req.method, req.url, encoding, length, connection, body].join(' '));
          res.end('ok');
        });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const requests = [
      { method: 'GET', path: '/sum?a=1', headers: {} },
      { method: 'POST', path: '/sum', headers: { 'transfer-encoding': 'chunked' }, body: 'twenty' },
      { method: 'POST', path: '/sum', headers: { connection: 'close' }, body: '20' },
    ] as const;
    const { port } = server.address() as AddressInfo;
    try {
      await wrk({ port, requests, connections: 2, seconds: 0.5, expectsErrors: false });
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(new Set(received)).toEqual(
      new Set(['GET /sum?a=1    ', 'POST /sum chunked   twenty', 'POST /sum  2 close 20']),
    );
  },
);
