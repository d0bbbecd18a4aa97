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
  type WebSocketClientOptions,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import superjson from 'superjson';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Fetch } from '../fetch.ts';
import { needs } from '../servers.ts';
import type { SuperjsonRouter, RpcRouter } from './rpcRouter.ts';

/** A server's tRPC endpoints, as options of the links of `@trpc/client`. */
export interface Place {
  readonly http: { readonly url: string; readonly fetch: Fetch };
  readonly events: {
    readonly url: string;
    readonly EventSource: typeof EventSource;
    readonly eventSourceOptions: { readonly fetch: Fetch };
  };
  readonly ws: string;
}

/** Returns the endpoints below `origin` and `basePath`, called with `fetch`. */
export const placeOf = (
  { origin, fetch }: { readonly origin: string; readonly fetch: Fetch },
  basePath: string,
): Place => {
  const url = `${origin}${basePath}`;
  return {
    http: { url, fetch },
    events: { url, EventSource, eventSourceOptions: { fetch } },
    ws: url.replace(/^http/, 'ws'),
  };
};

export type Client = TRPCClient<RpcRouter>;

export const clientOf = (...links: TRPCLink<RpcRouter>[]): Client => createTRPCClient({ links });

/** The `WebSocket` class of `ws`, typed as the browser's; only the event types differ. */
const PackageWebSocket = WebSocket as unknown as typeof globalThis.WebSocket;

/** Creates a WebSocket client that reconnects after 20 ms and is closed when the test ends. */
export function wsClient(place: Place, options: Partial<WebSocketClientOptions> = {}): TRPCWebSocketClient {
  needs('WebSockets');
  const client = createWSClient({
    url: place.ws,
    WebSocket: PackageWebSocket,
    retryDelayMs: () => 20,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** Terminating links for queries and mutations, by name. */
export const callLinks = {
  httpLink: (place: Place) => httpLink<RpcRouter>(place.http),
  httpBatchLink: (place: Place) => httpBatchLink<RpcRouter>(place.http),
  httpBatchStreamLink: (place: Place) => httpBatchStreamLink<RpcRouter>(place.http),
  wsLink: (place: Place) => wsLink({ client: wsClient(place) }),
} satisfies Record<string, (place: Place) => TRPCLink<RpcRouter>>;

/** Terminating links for subscriptions, by name. */
export const subscriptionLinks = {
  httpSubscriptionLink: (place: Place) => httpSubscriptionLink<RpcRouter, typeof EventSource>(place.events),
  wsLink: callLinks.wsLink,
} satisfies Record<string, (place: Place) => TRPCLink<RpcRouter>>;

const transformed = { transformer: superjson } as const;

export const superjsonLinks = {
  httpLink: (place: Place) => httpLink<SuperjsonRouter>({ ...place.http, ...transformed }),
  httpBatchLink: (place: Place) => httpBatchLink<SuperjsonRouter>({ ...place.http, ...transformed }),
  httpBatchStreamLink: (place: Place) =>
    httpBatchStreamLink<SuperjsonRouter>({ ...place.http, ...transformed }),
  wsLink: (place: Place) => wsLink({ client: wsClient(place), ...transformed }),
} satisfies Record<string, (place: Place) => TRPCLink<SuperjsonRouter>>;

export const superjsonSubscriptionLinks = {
  httpSubscriptionLink: (place: Place) =>
    httpSubscriptionLink<SuperjsonRouter, typeof EventSource>({
      ...place.events,
      ...transformed,
    }),
  wsLink: superjsonLinks.wsLink,
} satisfies Record<string, (place: Place) => TRPCLink<SuperjsonRouter>>;
