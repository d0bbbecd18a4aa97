import { gateway } from './gateway.ts';

export default {
  fetch(request: Request): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/hello') return new Response('Hello from Workers.');
    if (!gateway.serves(pathname)) return new Response('Workers has no such page.', { status: 404 });
    // Cloudflare sets this header itself; elsewhere, clients could.
    return gateway.fetch(request, { remoteAddress: request.headers.get('cf-connecting-ip') ?? undefined });
  },
};
