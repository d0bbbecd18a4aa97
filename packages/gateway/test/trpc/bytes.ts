import type { StartOptions } from './start.ts';
import { superjsonRouter } from './rpcRouter.ts';

/** A request with a streamed response, compared byte for byte between tRPC's adapter and the gateway. */
export interface StreamRow {
  readonly name: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: StartOptions;
}

/** The request header that selects JSON lines. */
export const lines = { 'trpc-accept': 'application/jsonl' };
const batch = (paths: string, inputs: object = {}) =>
  `/${paths}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`;
const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const transformed = { router: superjsonRouter };
const range = (to: number) => input({ to });

export const jsonLines: readonly StreamRow[] = [
  { name: 'one call', target: batch('hello') },
  {
    name: 'calls that finish in a different order',
    target: batch('slow,slow,hello', { 0: { ms: 60 }, 1: { ms: 30 } }),
  },
  { name: 'promises in an output', target: batch('promises') },
  { name: 'an async iterable', target: batch('iterable', { 0: 4 }) },
  { name: 'an async iterable that throws', target: batch('iterableFails') },
  { name: 'non-ASCII text', target: batch('hello', { 0: { name: 'ü 🐶 \u2028 "\\ \0' } }) },
  { name: 'a large output', target: batch('large', { 0: 300_000 }) },
  {
    name: 'a custom media type',
    target: batch('hello'),
    options: { streams: { jsonl: { contentType: 'application/jsonl' } } },
  },
];

export const serverSentEvents: readonly StreamRow[] = [
  { name: 'a subscription that completes', target: `/count?${range(5)}` },
  { name: 'a thousand events', target: `/count?${range(1000)}` },
  { name: 'tracked events', target: `/numbered?${range(3)}` },
  { name: 'tracked and untracked events', target: '/mixed' },
  {
    name: 'a subscription with a Last-Event-ID header',
    target: `/numbered?${range(4)}`,
    headers: { 'last-event-id': '2' },
  },
  { name: 'a subscription with a lastEventId parameter', target: `/numbered?${range(4)}&lastEventId=3` },
  { name: 'an observable', target: `/observed?${input(4)}` },
  { name: 'an observable that emits an error', target: '/observedFails' },
  { name: 'an error after two events', target: `/failsAfter?${input(2)}` },
  {
    name: 'connectionParams',
    target: `/count?${range(1)}&connectionParams=${encodeURIComponent('{"token":"ü & more"}')}`,
  },
  {
    name: 'sse.client options',
    target: `/count?${range(1)}`,
    options: {
      streams: {
        sse: { ping: { enabled: true, intervalMs: 9000 }, client: { reconnectAfterInactivityMs: 10_000 } },
      },
    },
  },
  ...[
    { name: 'a ping interval equal to reconnectAfterInactivityMs', intervalMs: 900, inactivityMs: 900 },
    { name: 'a ping interval over reconnectAfterInactivityMs', intervalMs: 901, inactivityMs: 900 },
    { name: 'the default ping interval equal to reconnectAfterInactivityMs', inactivityMs: 1000 },
    { name: 'the default ping interval over reconnectAfterInactivityMs', inactivityMs: 999 },
  ].map(({ name, intervalMs, inactivityMs }) => ({
    name,
    target: `/count?${range(1)}`,
    options: {
      streams: {
        sse: {
          ping: { enabled: true, ...(intervalMs !== undefined && { intervalMs }) },
          client: { reconnectAfterInactivityMs: inactivityMs },
        },
      },
    },
  })),
  {
    name: 'sse.ping',
    target: `/count?${input({ to: 1, everyMs: 250 })}`,
    options: { streams: { sse: { ping: { enabled: true, intervalMs: 150 } } } },
  },
  {
    name: 'sse.emitAndEndImmediately',
    target: `/count?${input({ to: 5, everyMs: 50 })}`,
    options: { streams: { sse: { emitAndEndImmediately: true } } },
  },
  {
    name: 'sse.maxDurationMs',
    target: `/count?${input({ to: 5, everyMs: 200 })}`,
    options: { streams: { sse: { maxDurationMs: 100 } } },
  },
  {
    name: 'a subscription with sse.enabled: false',
    target: `/count?${range(1)}`,
    options: { streams: { sse: { enabled: false } } },
  },
];

/** Messages that a client sends on a WebSocket, each with the number of responses to wait for before the next one. */
export interface SocketRow {
  readonly name: string;
  readonly send: readonly (readonly [message: string | Uint8Array, responses: number])[];
  readonly query?: string;
  readonly options?: StartOptions;
  /** True if the server is expected to close the socket at the end. */
  readonly closes?: true;
}

const request = (path: string, value?: unknown, method = 'query', id: unknown = 1) =>
  JSON.stringify({ id, method, params: { path, ...(value !== undefined && { input: value }) } });
const subscribe = (path: string, value?: unknown, id: unknown = 1) =>
  request(path, value, 'subscription', id);
const throwingContext = {
  admit: () => {
    throw new Error('Not you');
  },
};

export const webSocketMessages: readonly SocketRow[] = [
  { name: 'a query', send: [[request('hello', { name: 'ü 🐶 \u2028' }), 1]] },
  { name: 'a batch', send: [[`[${request('hello')},${request('nil', undefined, 'query', 2)}]`, 2]] },
  { name: 'a subscription', send: [[subscribe('count', { to: 3 }), 5]] },
  {
    name: 'a subscription that is stopped before its id is reused',
    send: [
      [subscribe('watch'), 2],
      ['{"id":1,"method":"subscription.stop"}', 1],
      [subscribe('count', { to: 1 }), 3],
    ],
  },
  {
    name: 'a second subscription with the id of a running one',
    send: [
      [subscribe('watch'), 2],
      [subscribe('count', { to: 1 }), 1],
    ],
  },
  {
    name: 'a query and a subscription of a lazy router',
    send: [
      [request('later.hello'), 1],
      [subscribe('later.count'), 4],
    ],
  },
  {
    name: 'PING and PONG',
    send: [
      ['PING', 1],
      ['PONG', 0],
      ['PING', 1],
    ],
  },
  { name: 'an empty message', send: [['', 1]] },
  { name: 'a binary message on a text socket', send: [[new Uint8Array([123, 125]), 1]] },
  { name: 'a batch of 1,000 numbers', send: [[`[${'5,'.repeat(999)}5]`, 1]] },
  { name: '50,000 nested arrays', send: [['['.repeat(50_000), 1]] },
  {
    name: 'connectionParams',
    query: '?connectionParams=1',
    send: [
      ['{"method":"connectionParams","data":{"token":"t"}}', 0],
      [request('seen'), 1],
    ],
  },
  {
    name: 'connectionParams of null',
    query: '?connectionParams=1',
    send: [
      ['{"method":"connectionParams","data":null}', 0],
      [request('seen'), 1],
    ],
  },
  {
    name: 'connectionParams that are not JSON',
    query: '?connectionParams=1',
    send: [['{', 1]],
    closes: true,
  },
  {
    name: 'connectionParams that are a number',
    query: '?connectionParams=1',
    send: [['5', 1]],
    closes: true,
  },
  {
    name: 'connectionParams of numbers',
    query: '?connectionParams=1',
    send: [['{"data":{"a":1}}', 1]],
    closes: true,
  },
  { name: 'a createContext that throws', send: [['PING', 1]], options: throwingContext, closes: true },
  {
    name: 'superjson outputs, errors and events',
    send: [
      [request('rich', { json: null }), 1],
      [request('throwError', { json: null }), 1],
      [subscribe('events', { json: null }), 4],
    ],
    options: transformed,
  },
];
