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
import type { SuperjsonRouter, WireRouter } from './wireRouter.ts';

/** Where a server is: its origin and the base path of its tRPC face. */
export interface Place {
  readonly http: string;
  readonly ws: string;
}

export type Client = TRPCClient<WireRouter>;

export const clientOf = (...links: TRPCLink<WireRouter>[]): Client => createTRPCClient({ links });

/** The `ws` package as the browser's class, which it is but for its types' older events. */
const PackageWebSocket = WebSocket as unknown as typeof globalThis.WebSocket;

/** A WebSocket client that reconnects at once and is closed with the test. */
export function wsClient(place: Place, options: Partial<WebSocketClientOptions> = {}): TRPCWebSocketClient {
  const client = createWSClient({
    url: place.ws,
    WebSocket: PackageWebSocket,
    retryDelayMs: () => 20,
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** The terminating links for queries and mutations, by name. */
export const callLinks = {
  httpLink: (place: Place) => httpLink<WireRouter>({ url: place.http }),
  httpBatchLink: (place: Place) => httpBatchLink<WireRouter>({ url: place.http }),
  httpBatchStreamLink: (place: Place) => httpBatchStreamLink<WireRouter>({ url: place.http }),
  wsLink: (place: Place) => wsLink({ client: wsClient(place) }),
} satisfies Record<string, (place: Place) => TRPCLink<WireRouter>>;

/** The terminating links for subscriptions, by name. */
export const subscriptionLinks = {
  httpSubscriptionLink: (place: Place) =>
    httpSubscriptionLink<WireRouter, typeof EventSource>({ url: place.http, EventSource }),
  wsLink: callLinks.wsLink,
} satisfies Record<string, (place: Place) => TRPCLink<WireRouter>>;

const transformed = { transformer: superjson } as const;

export const superjsonLinks = {
  httpLink: (place: Place) => httpLink<SuperjsonRouter>({ url: place.http, ...transformed }),
  httpBatchLink: (place: Place) => httpBatchLink<SuperjsonRouter>({ url: place.http, ...transformed }),
  httpBatchStreamLink: (place: Place) =>
    httpBatchStreamLink<SuperjsonRouter>({ url: place.http, ...transformed }),
  wsLink: (place: Place) => wsLink({ client: wsClient(place), ...transformed }),
} satisfies Record<string, (place: Place) => TRPCLink<SuperjsonRouter>>;

export const superjsonSubscriptionLinks = {
  httpSubscriptionLink: (place: Place) =>
    httpSubscriptionLink<SuperjsonRouter, typeof EventSource>({
      url: place.http,
      EventSource,
      ...transformed,
    }),
  wsLink: superjsonLinks.wsLink,
} satisfies Record<string, (place: Place) => TRPCLink<SuperjsonRouter>>;
