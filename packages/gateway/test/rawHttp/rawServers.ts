import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type * as Uws from '@uwsjs/core';
import { createGateway, headersOf, type HttpRequest, type HttpResponse, type Service } from 'trpc-gateway';
import { listen } from '../listen.ts';
import { createPets } from '../pets.ts';

/** A pet API on a port, with a record of the requests that reached the gateway. */
export interface RawServer {
  readonly port: number;
  /** The requests that reached the gateway, as method and target, in order. The reader empties the array. */
  readonly handled: string[];
  /** Returns the names of all animals in the store. */
  storedNames(): readonly string[];
  /** Empties the store. */
  clearStore(): void;
  close(): Promise<void>;
}

type Listen = (
  handle: Service['handle'],
) => Promise<{ readonly port: number; readonly close: () => Promise<unknown> }>;

async function startRawServer(listenWith: Listen): Promise<RawServer> {
  const { router, rows } = createPets();
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pets', version: '1.0.0' },
  });
  const handled: string[] = [];
  const { port, close } = await listenWith((request) => {
    handled.push(`${request.method} ${request.path}${request.query === '' ? '' : '?'}${request.query}`);
    return gateway.handle(request);
  });
  return {
    port,
    handled,
    storedNames: () => rows.map(({ name }) => name),
    clearStore: () => rows.splice(0),
    close: async () => {
      await close();
    },
  };
}

/** Starts the gateway with the tested adapter. */
export const gatewayServer = (): Promise<RawServer> =>
  startRawServer(async (handle) => {
    const server = await listen({ handle });
    return { port: server.port, close: () => server.close({ deadlineMs: 0 }) };
  });

/** Starts the gateway on a minimal server of `node:http`, for comparison. */
export const nodeServer = (): Promise<RawServer> =>
  startRawServer(async (handle) => {
    const server = createServer((message, response) => {
      const chunks: Buffer[] = [];
      message.on('data', (chunk: Buffer) => chunks.push(chunk));
      const respond = async () => {
        const gatewayResponse = await handle(nodeRequest(message, Buffer.concat(chunks)));
        response
          .writeHead(gatewayResponse.status, Object.fromEntries(headersOf(gatewayResponse)))
          .end(gatewayResponse.body);
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
  return createRequest(
    message.method ?? '',
    path,
    query,
    new Map(Object.entries(message.headers)),
    async () => Uint8Array.from(body),
  );
}

/**
 * Starts the gateway on uWebSockets.js as its examples use it, without the adapter's checks, to measure their effect.
 */
export const bareServer = (): Promise<RawServer> =>
  startRawServer(async (handle) => {
    // Imported late: the addon reads the environment variable that the adapter sets. It loads one of the two packages.
    const { uwsVersion } = await import('trpc-gateway/uws');
    const loaded = uwsVersion.startsWith('@uwsjs/core ') ? '@uwsjs/core' : 'uWebSockets.js';
    const uws = (await import(loaded)) as typeof Uws;
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
      const request = createRequest(
        req.getCaseSensitiveMethod(),
        req.getUrl(),
        req.getQuery(),
        headers,
        body,
      );
      const write = (response: HttpResponse) => {
        if (isAborted) return;
        res.cork(() => {
          res.writeStatus(`${response.status} Bare`);
          for (const [name, value] of headersOf(response)) res.writeHeader(name, value);
          res.end(response.body as string);
        });
      };
      const result = handle(request);
      if (result instanceof Promise) void result.then(write);
      else write(result);
    });
    const port = await new Promise<number>((resolve) => {
      app.listen('127.0.0.1', 0, (socket) => resolve(socket ? uws.us_socket_local_port(socket) : 0));
    });
    return { port, close: async () => app.close() };
  });

const createRequest = (
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
  hasHeader: (name) => headers.has(name),
  headers: () => [...headers].map(([name, value]) => [name, String(value)]),
  remoteAddress: () => '127.0.0.1',
  body,
  bodyChunks: async function* () {
    yield await body();
  },
  isAborted: false,
  signal: new AbortController().signal,
});
