import { expect, it } from 'vitest';
import { validKey, startService } from '../startService.ts';

const parameters = `connectionParams=${encodeURIComponent(JSON.stringify({ authorization: validKey }))}`;
it.each<[method: string, target: string, headers: Record<string, string>, status: number]>([
  // An EventSource cannot send headers.
  ['GET', '/trpc/ticks', { accept: 'text/event-stream' }, 200],
  ['GET', '/trpc/ticks', {}, 401],
  ['GET', '/trpc/ticks', { accept: '*/*' }, 401],
  ['GET', '/trpc/list', { accept: 'text/event-stream' }, 401],
  ['GET', '/v1/ticks', { accept: 'text/event-stream' }, 401],
  ['POST', '/trpc/ticks', { accept: 'text/event-stream', 'content-type': 'application/json' }, 401],
])(
  '%s %s with the headers %o and a credential in the query is answered with %i (RFC 6750 §2.3)',
  async (method, target, headers, status) => {
    const { server } = await startService();
    const response = await server.fetch(`${server.origin}${target}?${parameters}`, { method, headers });
    await response.body?.cancel();
    expect(response.status).toBe(status);
  },
);
