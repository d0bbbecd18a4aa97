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
      await wrk({ port, request, connections: 4, seconds: 0.5, expectsErrors: false });
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(used).toEqual(new Set(['session-0', 'session-1', 'session-2']));
  },
);
