import { serve } from 'srvx';

/** A server of WHATWG requests on 127.0.0.1. */
export interface FetchServer {
  readonly port: number;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

/** Serves a function such as `gateway.fetch` on a port, by default a free one. */
export async function listenWithFetch(
  fetch: (
    request: Request,
    options: { readonly remoteAddress?: string | undefined },
  ) => Response | Promise<Response>,
  port = 0,
): Promise<FetchServer> {
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
