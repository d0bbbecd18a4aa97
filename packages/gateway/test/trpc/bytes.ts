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
  { name: 'a batch of three', target: batch('hello,nothing,nil') },
  {
    name: 'calls that finish in a different order',
    target: batch('slow,slow,hello', { 0: { ms: 60 }, 1: { ms: 30 } }),
  },
  {
    name: 'a batch with one error',
    target: batch('hello,throwError,add', { 1: 'CONFLICT', 2: { a: 1, b: 2 } }),
  },
  { name: 'inputs that the schemas reject', target: batch('add,hello', { 0: { a: 'x' }, 1: 5 }) },
  { name: 'a procedure that does not exist', target: batch('gone,hello') },
  { name: 'promises in an output', target: batch('promises') },
  { name: 'an async iterable', target: batch('iterable', { 0: 4 }) },
  { name: 'an async iterable that throws', target: batch('iterableFails') },
  { name: 'non-ASCII text', target: batch('hello', { 0: { name: 'ü 🐶 \u2028 "\\ \0' } }) },
  { name: 'a large output', target: batch('large', { 0: 300_000 }) },
  { name: 'nested and lazy procedures', target: batch('deep.er.hello,later.hello') },
  { name: 'superjson outputs and errors', target: batch('rich,throwError'), options: transformed },
  {
    name: 'a custom media type',
    target: batch('hello'),
    options: { streams: { jsonl: { contentType: 'application/jsonl' } } },
  },
  {
    name: 'more calls than maxBatchSize',
    target: batch('nil,nil,nil'),
    options: { trpc: { maxBatchSize: 2 } },
  },
  {
    name: 'a batch with allowBatching: false',
    target: batch('nil'),
    options: { trpc: { allowBatching: false } },
  },
  { name: 'a single call outside a batch', target: '/hello' },
];

export const serverSentEvents: readonly StreamRow[] = [
  { name: 'a subscription that completes', target: `/count?${range(5)}` },
  { name: 'a subscription without events', target: `/count?${range(0)}` },
  { name: 'a thousand events', target: `/count?${range(1000)}` },
  { name: 'tracked events', target: `/numbered?${range(3)}` },
  { name: 'tracked and untracked events', target: '/mixed' },
  {
    name: 'a subscription with a Last-Event-ID header',
    target: `/numbered?${range(4)}`,
    headers: { 'last-event-id': '2' },
  },
  {
    name: 'a Last-Event-ID before untracked events',
    target: `/count?${range(2)}`,
    headers: { 'last-event-id': 'n-é-7' },
  },
  { name: 'a subscription with a lastEventId parameter', target: `/numbered?${range(4)}&lastEventId=3` },
  { name: 'an observable', target: `/observed?${input(4)}` },
  { name: 'an observable that emits an error', target: '/observedFails' },
  { name: 'an error before the first event', target: '/failsBefore' },
  { name: 'an error after two events', target: `/failsAfter?${input(2)}` },
  { name: 'a subscription that throws before it returns a stream', target: '/throwsAtOnce' },
  { name: 'a subscription that returns no iterable', target: '/notIterable' },
  { name: 'an input that the schema rejects', target: `/count?${input({ to: 'x' })}` },
  { name: 'an input that is not JSON', target: '/count?input=%7B' },
  {
    name: 'connectionParams',
    target: `/count?${range(1)}&connectionParams=${encodeURIComponent('{"token":"ü & more"}')}`,
  },
  { name: 'connectionParams that are not JSON', target: '/watch?connectionParams=%7B' },
  { name: 'a subscription in a batch', target: batch('count', { 0: { to: 1 } }) },
  { name: 'a subscription of a lazy router', target: '/later.count' },
  { name: 'superjson events', target: '/events', options: transformed },
  { name: 'superjson events followed by an error', target: '/eventsFail', options: transformed },
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
  {
    name: 'a createContext that throws',
    target: '/watch',
    options: {
      admit: () => {
        throw new Error('Not you');
      },
    },
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
  {
    name: 'outputs of undefined and null',
    send: [
      [request('nothing'), 1],
      [request('nil'), 1],
    ],
  },
  { name: 'a mutation', send: [[request('write', { name: 'Rex' }, 'mutation'), 1]] },
  { name: 'an id that is a string', send: [[request('hello', undefined, 'query', 'a "b"'), 1]] },
  {
    name: 'a request with jsonrpc 2.0',
    send: [['{"jsonrpc":"2.0","id":4,"method":"query","params":{"path":"nil"}}', 1]],
  },
  { name: 'a query that throws', send: [[request('throwError', 'CONFLICT'), 1]] },
  { name: 'an input that the schema rejects', send: [[request('add', { a: 'x' }), 1]] },
  { name: 'a procedure that does not exist', send: [[request('gone'), 1]] },
  { name: 'a mutation called as a query', send: [[request('write', { name: 'x' }), 1]] },
  { name: 'a query that returns an async iterable', send: [[request('iterable', 2), 1]] },
  { name: 'a batch', send: [[`[${request('hello')},${request('nil', undefined, 'query', 2)}]`, 2]] },
  {
    name: 'an empty batch',
    send: [
      ['[]', 0],
      [request('nil'), 1],
    ],
  },
  { name: 'a subscription', send: [[subscribe('count', { to: 3 }), 5]] },
  { name: 'a subscription without events', send: [[subscribe('count', { to: 0 }), 2]] },
  { name: 'tracked events', send: [[subscribe('numbered', { to: 2 }), 4]] },
  { name: 'tracked and untracked events', send: [[subscribe('mixed'), 5]] },
  {
    name: 'a subscription with lastEventId',
    send: [
      ['{"id":1,"method":"subscription","params":{"path":"numbered","input":{"to":5},"lastEventId":"4"}}', 3],
    ],
  },
  {
    name: 'a subscription with lastEventId and no input',
    send: [['{"id":1,"method":"subscription","params":{"path":"mixed","lastEventId":"4"}}', 5]],
  },
  { name: 'an observable', send: [[subscribe('observed', 2), 4]] },
  { name: 'an observable that emits an error', send: [[subscribe('observedFails'), 3]] },
  { name: 'an error before the first event', send: [[subscribe('failsBefore'), 2]] },
  { name: 'an error after two events', send: [[subscribe('failsAfter', 2), 4]] },
  { name: 'a subscription that throws before it returns a stream', send: [[subscribe('throwsAtOnce'), 1]] },
  { name: 'a subscription that returns no iterable', send: [[subscribe('notIterable'), 1]] },
  {
    name: 'a subscription that is stopped before its id is reused',
    send: [
      [subscribe('watch'), 2],
      ['{"id":1,"method":"subscription.stop"}', 1],
      [subscribe('count', { to: 1 }), 3],
    ],
  },
  {
    name: 'a stop for an id without a subscription',
    send: [
      ['{"id":9,"method":"subscription.stop"}', 0],
      [request('nil'), 1],
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
  { name: 'a message that is not JSON', send: [['{', 1]] },
  { name: 'an empty message', send: [['', 1]] },
  { name: 'a message that is a number', send: [['5', 1]] },
  { name: 'a message that is null', send: [['null', 1]] },
  { name: 'a binary message on a text socket', send: [[new Uint8Array([123, 125]), 1]] },
  { name: 'an unknown method', send: [['{"id":1,"method":"dance","params":{"path":"hello"}}', 1]] },
  {
    name: 'a path that is not a string, and another version of JSON-RPC',
    send: [
      ['{"id":1,"method":"query","params":{"path":5}}', 1],
      ['{"id":1,"jsonrpc":"1.0","method":"query","params":{"path":"nil"}}', 1],
    ],
  },
  { name: 'a batch with an invalid part', send: [[`[${request('nil')},5]`, 1]] },
  { name: 'a batch of 1,000 numbers', send: [[`[${'5,'.repeat(999)}5]`, 1]] },
  { name: '50,000 nested arrays', send: [['['.repeat(50_000), 1]] },
  { name: 'a request without params', send: [['{"id":1,"method":"query"}', 1]] },
  { name: 'an id of null', send: [['{"id":null,"method":"query","params":{"path":"nil"}}', 1]] },
  { name: 'a request without an id', send: [['{"method":"query","params":{"path":"nil"}}', 1]] },
  { name: 'an id that is an object', send: [['{"id":{},"method":"query","params":{"path":"nil"}}', 1]] },
  {
    name: 'a lastEventId that is a number',
    send: [['{"id":1,"method":"subscription","params":{"path":"mixed","lastEventId":4}}', 1]],
  },
  {
    name: 'a path of __proto__',
    send: [
      [request('__proto__'), 1],
      [request('constructor'), 1],
      [request('deep.__proto__.hello'), 1],
    ],
  },
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
  {
    name: 'superjson events followed by an error',
    send: [[subscribe('eventsFail', { json: null }), 3]],
    options: transformed,
  },
];
