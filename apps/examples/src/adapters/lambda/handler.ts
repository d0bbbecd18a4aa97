import { toLambdaHandler } from 'srvx/aws-lambda';
import { gateway } from '../gateway.ts';

export const handler = toLambdaHandler({
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/hello') return new Response('Hello from Lambda.');
    if (!gateway.serves(pathname)) return new Response('Lambda has no such page.', { status: 404 });
    // srvx 1.0 sends a text as UTF-8, also one that is compressed.
    request.headers.delete('accept-encoding');
    // The address that API Gateway received the request from.
    return gateway.fetch(request, { remoteAddress: request.ip });
  },
});
