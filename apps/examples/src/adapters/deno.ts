import { gateway } from './gateway.ts';

// `deno serve --unstable-no-legacy-abort` serves the default export of the entry file.
export default {
  fetch(
    request: Request,
    { remoteAddr }: { remoteAddr: { hostname: string } },
  ): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/hello') return new Response('Hello from Deno.');
    if (!gateway.serves(pathname)) return new Response('Deno has no such page.', { status: 404 });
    return gateway.fetch(request, { remoteAddress: remoteAddr.hostname });
  },
};
