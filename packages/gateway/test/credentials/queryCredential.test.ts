import { expect, it } from 'vitest';
import { validKey, startService } from '../startService.ts';

const parameters = `connectionParams=${encodeURIComponent(JSON.stringify({ authorization: validKey }))}`;
const send = async (target: string, headers: Record<string, string> = {}, method = 'GET') => {
  const { server } = await startService();
  const response = await server.fetch(`${server.origin}${target}?${parameters}`, { method, headers });
  await response.body?.cancel();
  return response.status;
};

it('GET /trpc/ticks accepts a credential in the query if Accept is text/event-stream, because an EventSource cannot send headers', async () => {
  expect(await send('/trpc/ticks', { accept: 'text/event-stream' })).toBe(200);
});

it.each<[method: string, target: string, headers: Record<string, string>]>([
  ['GET', '/trpc/ticks', {}],
  ['GET', '/trpc/ticks', { accept: '*/*' }],
  ['GET', '/trpc/list', { accept: 'text/event-stream' }],
  ['GET', '/v1/ticks', { accept: 'text/event-stream' }],
  ['POST', '/trpc/ticks', { accept: 'text/event-stream', 'content-type': 'application/json' }],
])(
  '%s %s with the headers %o and a credential in the query is rejected with 401 (RFC 6750 §2.3)',
  async (method, target, headers) => {
    expect(await send(target, headers, method)).toBe(401);
  },
);
