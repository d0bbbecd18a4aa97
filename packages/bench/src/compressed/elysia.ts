import { Elysia, t } from 'elysia';
import { level, listFrom, port } from './list.ts';

declare const Bun: {
  gzipSync(bytes: Uint8Array, options: { readonly level: number }): Uint8Array<ArrayBuffer>;
};

// Elysia has no middleware of its own: this is that of its documentation (Life Cycle, Map Response), with negotiation. The
// packages for it keep each response for a day (elysia-compress 1.2.1).
const encoder = new TextEncoder();

new Elysia()
  .mapResponse(({ headers, responseValue, set }) => {
    if (!headers['accept-encoding']?.includes('gzip')) return undefined;
    set.headers['content-encoding'] = 'gzip';
    set.headers['vary'] = 'Accept-Encoding';
    return new Response(Bun.gzipSync(encoder.encode(JSON.stringify(responseValue)), { level }), {
      headers: { 'content-type': 'application/json' },
    });
  })
  .get('/v1/animals', ({ query }) => listFrom(query.from), { query: t.Object({ from: t.Integer() }) })
  .listen({ hostname: '127.0.0.1', port });
