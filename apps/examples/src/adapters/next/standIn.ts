import { type FetchServer, listenWithFetch } from '@petstore/testing/fetchServer';
import * as route from './route.ts';

// Next is not installed. This calls the exports of a route like the App Router.
class NextRequest extends Request {}
type Handler = (request: Request, context: { readonly params: Promise<object> }) => Promise<Response>;

/** Serves `route.ts` as `app/api/[...path]/route.ts`, and another page. */
export const startNext = (port: number): Promise<FetchServer> =>
  listenWithFetch(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/hello') return new Response('Hello from Next.');
    if (!pathname.startsWith('/api/')) return new Response('Next has no such page.', { status: 404 });
    const handler = (route as Readonly<Record<string, Handler>>)[request.method];
    if (handler === undefined) return new Response(null, { status: 405 });
    const params = Promise.resolve({ path: pathname.split('/').slice(2) });
    return handler(new NextRequest(request.url, request), { params });
  }, port);
