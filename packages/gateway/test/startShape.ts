import { createGateway, type ErrorFormat, type RequestRecord, type GatewayOptions } from 'trpc-gateway';
import { createTRPCClient, httpBatchStreamLink, httpSubscriptionLink, splitLink } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import { onTestFinished } from 'vitest';
import type { OpenApiDocument } from './openApi.ts';
import { serve } from './servers.ts';

type Options<Router extends AnyTRPCRouter> = Partial<GatewayOptions<Router, undefined>> & {
  readonly errorFormat?: ErrorFormat;
};

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
export async function openShape<Router extends AnyTRPCRouter>(router: Router, options: Options<Router> = {}) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway<Router, undefined>({
    router,
    createContext: ({ response }) => ({ response }) as never,
    document: { title: 'Shape', version: '1.0.0' },
    onResponse: (record) => records.push(record),
    ...options,
  });
  const server = await serve(gateway);
  const { fetch, origin } = server;
  const url = `${origin}/trpc`;
  const rest = (path: string, init: RequestInit = {}) => fetch(`${origin}/v1${path}`, init);
  return {
    server,
    records,
    rest,
    /** Sends a REST request. Resolves with the status and the JSON of the response. */
    restJson: async (path: string, init?: RequestInit): Promise<readonly [status: number, body: unknown]> => {
      const response = await rest(path, init);
      return [response.status, await response.json()];
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
    document: (await gateway.document()) as unknown as OpenApiDocument,
    origin,
    close: async () => void (await server.close({ graceMs: 0 })),
  };
}

export const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
