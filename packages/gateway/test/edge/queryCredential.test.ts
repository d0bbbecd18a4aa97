import { expect, it } from 'vitest';
import { key, startEdge } from './startEdge.ts';

const parameters = `connectionParams=${encodeURIComponent(JSON.stringify({ authorization: key }))}`;
const send = async (target: string, headers: Record<string, string> = {}, method = 'GET') => {
  const { server } = await startEdge();
  const response = await server.fetch(`${server.origin}${target}?${parameters}`, { method, headers });
  await response.body?.cancel();
  return response.status;
};

it('a credential in the query is taken from an EventSource, which can send no header', async () => {
  expect(await send('/trpc/ticks', { accept: 'text/event-stream' })).toBe(200);
});

it.each<[method: string, target: string, headers: Record<string, string>]>([
  ['GET', '/trpc/ticks', {}],
  ['GET', '/trpc/ticks', { accept: '*/*' }],
  ['GET', '/trpc/list', { accept: 'text/event-stream' }],
  ['GET', '/v1/ticks', { accept: 'text/event-stream' }],
  ['POST', '/trpc/ticks', { accept: 'text/event-stream', 'content-type': 'application/json' }],
])('a credential in the query of %s %s with %o is 401 (RFC 6750 §2.3)', async (method, target, headers) => {
  expect(await send(target, headers, method)).toBe(401);
});
