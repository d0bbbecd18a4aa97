import { gateway } from './books.ts';

/** The second argument of Bun's fetch handler. */
interface Server {
  requestIP(request: Request): { readonly address: string } | null;
}

// Bun passes the default export of the entry file to `Bun.serve`.
export default {
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  fetch(request: Request, server: Server): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/hello') return new Response('Hello from Bun.');
    if (!gateway.serves(pathname)) return new Response('Bun has no such page.', { status: 404 });
    return gateway.fetch(request, { remoteAddress: server.requestIP(request)?.address });
  },
};
