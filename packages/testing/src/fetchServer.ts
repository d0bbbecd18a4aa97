import { serve } from 'srvx';

export type FetchServer = Awaited<ReturnType<typeof listenWithFetch>>;

/** Serves a function such as `gateway.fetch` on a port of 127.0.0.1, by default a free one. `close` ends all connections at once. */
export async function listenWithFetch(
  fetch: (
    request: Request,
    options: { readonly remoteAddress?: string | undefined },
  ) => Response | Promise<Response>,
  port = 0,
) {
  const server = serve({
    fetch: (request) => fetch(request, { remoteAddress: request.ip }),
    hostname: '127.0.0.1',
    port,
    gracefulShutdown: false,
    silent: true,
  });
  await server.ready();
  return { port: Number(new URL(server.url ?? '').port), close: () => server.close(true) };
}
