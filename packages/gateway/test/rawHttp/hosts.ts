import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createGateway,
  headersOf,
  type HttpRequest,
  type HttpResponse,
  type Handle,
} from '@petstore/gateway';
import { listen } from '../listen.ts';
import { createPets } from '../pets.ts';

/** Pets behind a real port, and a record of what the service was asked. */
export interface RawServer {
  readonly port: number;
  /** Every request that reached the service, as method and target, in order. Emptied by who reads it. */
  readonly handled: string[];
  /** The names of all animals in the store. */
  names(): readonly string[];
  /** Empties the store. */
  forget(): void;
  close(): Promise<void>;
}

type Start = (handle: Handle) => Promise<{ readonly port: number; readonly close: () => Promise<unknown> }>;

async function host(start: Start): Promise<RawServer> {
  const { router, rows } = createPets();
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pets', version: '1.0.0' },
  });
  const handled: string[] = [];
  const { port, close } = await start((request) => {
    handled.push(`${request.method} ${request.path}${request.query === '' ? '' : '?'}${request.query}`);
    return gateway.handle(request);
  });
  return {
    port,
    handled,
    names: () => rows.map(({ name }) => name),
    forget: () => rows.splice(0),
    close: async () => {
      await close();
    },
  };
}

/** The host that is tested. */
export const gatewayServer = (): Promise<RawServer> =>
  host(async (handle) => {
    const server = await listen({ handle });
    return { port: server.port, close: () => server.close({ deadlineMs: 0 }) };
  });

/** What most people know. */
export const nodeServer = (): Promise<RawServer> =>
  host(async (handle) => {
    const server = createServer((message, response) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      const respond = async () => {
        const received = await handle(nodeRequest(message, Buffer.concat(chunks)));
        response.writeHead(received.status, Object.fromEntries(headersOf(received))).end(received.body);
      };
      message.on('end', () => void respond());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    return { port: (server.address() as AddressInfo).port, close };
  });

function nodeRequest(message: IncomingMessage, body: Buffer): HttpRequest {
  const [path = '', query = ''] = (message.url ?? '').split('?', 2);
  return plainRequest(message.method ?? '', path, query, new Map(Object.entries(message.headers)), async () =>
    Uint8Array.from(body),
  );
}

/** uWebSockets.js without defences, used as its examples do: what the tested host adds is measured against it. */
export const bareServer = (): Promise<RawServer> =>
  host(async (handle) => {
    // Not before: what a host sets in the environment is read when the addon loads.
    const uws = await import('uWebSockets.js');
    const app = uws.App().any('/*', (res, req) => {
      const headers = new Map<string, string>();
      req.forEach((name, value) => headers.set(name, value));
      let isAborted = false;
      res.onAborted(() => {
        isAborted = true;
      });
      const chunks: Buffer[] = [];
      const ended = new Promise<void>((resolve) => {
        res.onData((chunk, isLast) => {
          chunks.push(Buffer.from(chunk.slice(0)));
          if (isLast) resolve();
        });
      });
      const body = async () => {
        await ended;
        return Uint8Array.from(Buffer.concat(chunks));
      };
      const request = plainRequest(req.getCaseSensitiveMethod(), req.getUrl(), req.getQuery(), headers, body);
      const write = (response: HttpResponse) => {
        if (isAborted) return;
        res.cork(() => {
          res.writeStatus(`${response.status} Bare`);
          for (const [name, value] of headersOf(response)) res.writeHeader(name, value);
          res.end(response.body as string);
        });
      };
      const received = handle(request);
      if (received instanceof Promise) void received.then(write);
      else write(received);
    });
    const port = await new Promise<number>((resolve) => {
      app.listen('127.0.0.1', 0, (socket) => resolve(socket ? uws.us_socket_local_port(socket) : 0));
    });
    return { port, close: async () => app.close() };
  });

const plainRequest = (
  method: string,
  path: string,
  query: string | undefined,
  headers: ReadonlyMap<string, unknown>,
  body: () => Promise<Uint8Array<ArrayBuffer>>,
): HttpRequest => ({
  method,
  path,
  query: query ?? '',
  header: (name) => (headers.has(name) ? String(headers.get(name)) : undefined),
  headers: () => [...headers].map(([name, value]) => [name, String(value)] as const),
  remoteAddress: () => '127.0.0.1',
  body,
  bodyChunks: async function* () {
    yield await body();
  },
  isAborted: false,
  signal: new AbortController().signal,
});
