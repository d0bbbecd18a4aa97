import { gateway } from './books.ts';

/** What Bun gives beside a request. */
interface Server {
  requestIP(request: Request): { readonly address: string } | null;
}

// Bun serves the default export of its entry file, as `Bun.serve` does.
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
