import { createGateway, type ErrorFormat, type RequestRecord, type GatewayOptions } from 'trpc-gateway';
import {
  createTRPCClient,
  createWSClient,
  httpBatchStreamLink,
  httpSubscriptionLink,
  splitLink,
  wsLink,
} from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { OpenApiDocument } from './openApi.ts';
import { needs, serve } from './servers.ts';

type Options<Router extends AnyTRPCRouter, Identity = undefined> = Partial<
  GatewayOptions<Router, Identity>
> & { readonly errorFormat?: ErrorFormat };

/** A REST request and its response. The body of a 400 is given by its message; without one, only the status is compared. */
export type RestRow = readonly [target: string, init: RequestInit, status: number, body?: unknown];

/** Serves a router until the test ends. Returns its clients. */
export async function startShape<Router extends AnyTRPCRouter>(
  router: Router,
  options: Options<Router> = {},
) {
  const shape = await openShape(router, options);
  onTestFinished(shape.close);
  return shape;
}

export type Shape = Awaited<ReturnType<typeof openShape>>;

/** Serves a router until its `close()`. Returns its clients. */
export async function openShape<Router extends AnyTRPCRouter, Identity = undefined>(
  router: Router,
  options: Options<Router, Identity> = {},
) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway<Router, Identity>({
    router,
    createContext: ({ response }) => ({ response }) as never,
    document: { title: 'Shape', version: '1.0.0' },
    idempotency: { caller: () => undefined },
    onResponse: (record) => records.push(record),
    ...options,
  });
  const server = await serve(gateway);
  const { fetch, origin } = server;
  const url = `${origin}/trpc`;
  const rest = (path: string, init: RequestInit = {}) => fetch(`${origin}/v1${path}`, init);
  const restJson = async (
    path: string,
    init?: RequestInit,
  ): Promise<readonly [status: number, body: unknown]> => {
    const response = await rest(path, init);
    return [response.status, await response.json()];
  };
  return {
    server,
    records,
    rest,
    /** Sends a REST request. Resolves with the status and the JSON of the response. */
    restJson,
    /** Sends REST requests one after the other, and compares their responses. */
    expectRest: async (rows: readonly RestRow[]): Promise<void> => {
      for (const [target, init, status, ...body] of rows) {
        const received = await restJson(target, init);
        const compared = [target, ...received.slice(0, 1 + body.length)];
        expect(compared).toEqual([target, status, ...(status === 400 ? body.map(badRequest) : body)]);
      }
    },
    /** tRPC's client of the router. */
    trpc: createTRPCClient<Router>({
      links: [
        splitLink({
          condition: ({ type }) => type === 'subscription',
          true: httpSubscriptionLink({ url } as never),
          false: httpBatchStreamLink({ url, fetch } as never),
        }),
      ],
    }),
    /** Opens a WebSocket with headers until the test ends. Returns tRPC's client of the router on it. */
    socketTrpc: (headers: Readonly<Record<string, string>> = {}) => {
      needs('WebSockets');
      class SocketWithHeaders extends WebSocket {
        constructor(target: string) {
          super(target, { headers });
        }
      }
      const socketUrl = url.replace('http', 'ws');
      const client = createWSClient({ url: socketUrl, WebSocket: SocketWithHeaders as never });
      onTestFinished(() => client.close());
      return createTRPCClient<Router>({ links: [wsLink({ client } as never)] });
    },
    document: (await gateway.document()) as unknown as OpenApiDocument,
    origin,
    close: async () => void (await server.close({ graceMs: 0 })),
  };
}

const badRequest = (message: unknown) => ({
  code: 'BAD_REQUEST',
  status: 400,
  message: message instanceof RegExp ? expect.stringMatching(message) : message,
});

/** A request with a JSON body. */
export const send = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
export const post = (body: unknown): RequestInit => send('POST', body);
export const put = (body: unknown): RequestInit => send('PUT', body);
