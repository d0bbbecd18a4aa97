import { METHODS } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { firstBytesOf, rawRequest, rawSocket, upgradeRequest } from '../wire/rawSocket.ts';
import { readResponses } from '../wire/responses.ts';
import { validKey, startService } from '../startService.ts';

const json = { 'content-type': 'application/json' };
const rpcMethods = 'GET, POST, HEAD, OPTIONS';

/** Sends a method in the given case, on a raw socket: HTTP clients convert known methods to upper case. */
async function send(port: number, method: string, target: string, headers: Record<string, string>) {
  if (!METHODS.includes(method)) skipIfDifferent('a method that node:http does not know');
  const body = method.toUpperCase() === 'POST' ? '{"value":1}' : '';
  const sent = rawRequest(target, { method, headers: { connection: 'close', ...headers }, body });
  const [response] = readResponses(await text(rawSocket(port, sent)), false).responses;
  return {
    status: response?.status,
    allow: response?.headers.get('allow'),
    contentType: response?.headers.get('content-type'),
    body: JSON.parse(response?.body || 'null') as unknown,
  };
}

// Methods are case-sensitive (RFC 9110 §9.1).
it.each([
  ['post', '/trpc/write', rpcMethods],
  ['post', '/trpc/write,write?batch=1', rpcMethods],
  ['get', '/trpc/list', rpcMethods],
  ['TRACK', '/trpc/list', rpcMethods],
  ['PROPFIND', '/trpc/nowhere', rpcMethods],
  ['post', '/v1/write', 'POST, OPTIONS'],
  ['get', '/v1/list', 'GET, HEAD, OPTIONS'],
  ['TRACE', '/v1/list', 'GET, HEAD, OPTIONS'],
  ['get', '/page', 'GET, HEAD, OPTIONS'],
  ['TRACE', '/openapi.json', 'GET, HEAD, OPTIONS'],
])(
  '%s %s is answered with 405 and Allow: %s, as JSON, and runs no procedure',
  async (method, target, allow) => {
    const { records, counters, server } = await startService();
    const response = await send(server.port, method, target, { authorization: validKey, ...json });
    expect(response).toMatchObject({ status: 405, allow, contentType: 'application/json' });
    expect(JSON.stringify(response.body)).toContain('METHOD_NOT_SUPPORTED');
    expect(records).toMatchObject([{ status: 405, method, error: undefined, bytesIn: expect.any(Number) }]);
    expect(counters.written).toBe(0);
  },
);

it.each(['/trpc/write', '/trpc/open', '/v1/write'])(
  'post %s without a credential is answered with 401, or with 405 if the procedure is public',
  async (target) => {
    const { server } = await startService();
    const { status } = await send(server.port, 'post', target, json);
    expect(status).toBe(target === '/trpc/open' ? 405 : 401);
  },
);

it('a WebSocket upgrade with the method get is answered with 405', async () => {
  const { server } = await startService();
  skipIfDifferent('a method that node:http does not know');
  const upgrade = upgradeRequest('/trpc', { authorization: validKey }).replace('GET', 'get');
  expect(await firstBytesOf(server.port, upgrade)).toMatch(/^HTTP\/1\.1 405 /);
});
