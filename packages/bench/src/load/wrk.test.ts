import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { CaseRequest } from '../cases.ts';
import { checkWrk, wrk } from './wrk.ts';

const hasWrk = await checkWrk().then(
  () => process.platform === 'linux',
  () => false,
);
if (!hasWrk) process.stdout.write('SKIPPED: the load by wrk: it needs Linux and wrk.\n');

/** Sends requests to a server for half a second. @param onRequest called with each request and its body */
async function load(
  requests: readonly CaseRequest[],
  connections: number,
  onRequest: (request: IncomingMessage, body: string) => void,
): Promise<void> {
  const server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (text: string) => (body += text))
      .on('end', () => {
        onRequest(request, body);
        response.end('{}');
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await wrk({ port, requests, connections, seconds: 0.5, expectsErrors: false });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it.skipIf(!hasWrk)(
  'the load gives each request an id of its own and its sessions in turn, where the request has sessions',
  async () => {
    const ids: unknown[] = [];
    const used = new Set<unknown>();
    const request = {
      method: 'POST',
      path: '/mcp',
      headers: { 'mcp-session-id': 'session-1' },
      body: '{"jsonrpc":"2.0","id":1,"params":{"categoryId":1}}',
      sessions: 3,
    } as const;
    await load([request], 4, ({ headers }, body) => {
      ids.push((JSON.parse(body) as { readonly id: unknown }).id);
      used.add(headers['mcp-session-id']);
    });
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(used).toEqual(new Set(['session-0', 'session-1', 'session-2']));
  },
);

it.skipIf(!hasWrk)(
  'the load sends several requests in turn, bodies with a length or in chunks, and connects again after a close',
  async () => {
    const received = new Set<string>();
    const requests = [
      { method: 'GET', path: '/sum?a=1', headers: {} },
      { method: 'POST', path: '/sum', headers: { 'transfer-encoding': 'chunked' }, body: 'twenty' },
      { method: 'POST', path: '/sum', headers: { connection: 'close' }, body: '20' },
    ] as const;
    await load(requests, 2, ({ headers, method, url }, body) => {
      const { 'transfer-encoding': encoding, 'content-length': length, connection } = headers;
      received.add([method, url, encoding, length, connection, body].join(' '));
    });
    expect(received).toEqual(
      new Set(['GET /sum?a=1    ', 'POST /sum chunked   twenty', 'POST /sum  2 close 20']),
    );
  },
);
