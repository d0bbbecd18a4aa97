import {
  createTRPCClient,
  createWSClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  wsLink,
  type TRPCClient,
  type TRPCLink,
  type TRPCWebSocketClient,
} from '@trpc/client';
import { isTrpcBefore } from '@petstore/testing/olderTrpc';
import { EventSource } from 'eventsource';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Server } from '../listen.ts';
import { needs } from '../servers.ts';
import type { RpcRouter } from './rpcRouter.ts';

/** A server's tRPC endpoints, as options of the links of `@trpc/client`. */
export type Endpoints = ReturnType<typeof endpointsOf>;

// @trpc/client before 11.4 reads constants of the global class, also if it has another one.
if (isTrpcBefore('11.4.0')) Object.assign(globalThis, { EventSource });

export const endpointsOf = ({ origin, fetch }: Pick<Server, 'fetch' | 'origin'>) => {
  const url = `${origin}/trpc`;
  return {
    http: { url, fetch },
    events: { url, EventSource, eventSourceOptions: { fetch } },
    ws: url.replace(/^http/, 'ws'),
  };
};

export const clientOf = (...links: TRPCLink<RpcRouter>[]): TRPCClient<RpcRouter> =>
  createTRPCClient({ links });

/** The `WebSocket` class of `ws`, typed as the browser's; only the event types differ. */
const PackageWebSocket = WebSocket as unknown as typeof globalThis.WebSocket;

/** Creates a WebSocket client that reconnects after 20 ms and is closed when the test ends. */
function wsClient(endpoints: Endpoints): TRPCWebSocketClient {
  needs('WebSockets');
  const client = createWSClient({
    url: endpoints.ws,
    WebSocket: PackageWebSocket,
    retryDelayMs: () => 20,
  });
  onTestFinished(() => client.close());
  return client;
}

export const callLinks = {
  httpLink: (endpoints: Endpoints) => httpLink<RpcRouter>(endpoints.http),
  httpBatchLink: (endpoints: Endpoints) => httpBatchLink<RpcRouter>(endpoints.http),
  httpBatchStreamLink: (endpoints: Endpoints) => httpBatchStreamLink<RpcRouter>(endpoints.http),
  wsLink: (endpoints: Endpoints) => wsLink({ client: wsClient(endpoints) }),
} satisfies Record<string, (endpoints: Endpoints) => TRPCLink<RpcRouter>>;

export const subscriptionLinks = {
  httpSubscriptionLink: (endpoints: Endpoints) =>
    httpSubscriptionLink<RpcRouter, typeof EventSource>(endpoints.events),
  wsLink: callLinks.wsLink,
} satisfies Record<string, (endpoints: Endpoints) => TRPCLink<RpcRouter>>;
