import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** Answers a `Request`, as `gateway.fetch` does. */
export type FetchHandler = (
  request: Request,
  options: { readonly remoteAddress?: string | undefined },
) => Response | Promise<Response>;

/** A server of WHATWG requests. */
export interface FetchServer {
  readonly port: number;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  stop(closeActiveConnections: true): Promise<void>;
}

declare const Bun:
  | {
      serve(options: {
        readonly hostname: string;
        readonly port: number;
        readonly development: false;
        readonly fetch: (request: Request, server: BunServer) => Response | Promise<Response>;
      }): BunServer;
    }
  | undefined;

declare const Deno:
  | {
      serve(
        options: { readonly hostname: string; readonly port: number; readonly onListen: () => void },
        handler: (
          request: Request,
          info: { readonly remoteAddr: { readonly hostname: string } },
        ) => Response | Promise<Response>,
      ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
    }
  | undefined;

/** Serves on a port of 127.0.0.1: on Bun with `Bun.serve`, on Deno with `Deno.serve`, on Node with as little as makes a `Request` of what node:http has. */
export function listenWithFetch(fetch: FetchHandler, port = 0): Promise<FetchServer> | FetchServer {
  if (typeof Bun !== 'undefined') return onBun(Bun, fetch, port);
  return typeof Deno === 'undefined' ? onNode(fetch, port) : onDeno(Deno, fetch, port);
}

function onBun(bun: NonNullable<typeof Bun>, fetch: FetchHandler, port: number): FetchServer {
  const server = bun.serve({
    hostname: '127.0.0.1',
    port,
    development: false,
    fetch: (request, self) => fetch(request, { remoteAddress: self.requestIP(request)?.address }),
  });
  return { port: server.port, close: () => server.stop(true) };
}

function onDeno(deno: NonNullable<typeof Deno>, fetch: FetchHandler, port: number): FetchServer {
  const options = { hostname: '127.0.0.1', port, onListen: () => {} };
  const server = deno.serve(options, (request, { remoteAddr }) =>
    fetch(request, { remoteAddress: remoteAddr.hostname }),
  );
  return { port: server.addr.port, close: () => server.shutdown() };
}

async function onNode(fetch: FetchHandler, port: number): Promise<FetchServer> {
  const server = createServer((req, res) => {
    void respond(fetch, req, res).catch(() => {
      if (!res.headersSent) res.writeHead(400);
      res.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(fetch: FetchHandler, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { method = 'GET', headers, headersDistinct, socket, url } = req;
  // What is not read of a body is discarded, so that another request can follow.
  res.once('finish', () => req.resume());
  const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array<ArrayBuffer>>;
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
    body: method === 'GET' || method === 'HEAD' ? null : ReadableStream.from(chunks),
    duplex: 'half',
  });
  const response = await fetch(request, { remoteAddress: socket.remoteAddress });
  res.writeHead(response.status, [...response.headers].flat());
  if (response.body === null) res.end();
  else await pipeline(response.body, res);
}
