import type { StartOptions } from './start.ts';
import { superjsonRouter } from './rpcRouter.ts';
import { invertedJson } from './encoder.ts';

/** A request whose answer is a stream: every byte of it is to be the same from both. */
export interface StreamRow {
  readonly name: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options?: StartOptions;
}

/** What asks for JSON lines. */
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
    name: 'calls that answer in another order',
    target: batch('slow,slow,hello', { 0: { ms: 60 }, 1: { ms: 30 } }),
  },
  { name: 'an error among answers', target: batch('hello,fail,add', { 1: 'CONFLICT', 2: { a: 1, b: 2 } }) },
  { name: 'inputs that the schemas refuse', target: batch('add,hello', { 0: { a: 'x' }, 1: 5 }) },
  { name: 'a procedure that is not there', target: batch('gone,hello') },
  { name: 'promises within an output', target: batch('promises') },
  { name: 'an async iterable', target: batch('iterable', { 0: 4 }) },
  { name: 'an async iterable that fails', target: batch('iterableFails') },
  { name: 'text beyond ASCII', target: batch('hello', { 0: { name: 'ü 🐶 \u2028 "\\ \0' } }) },
  { name: 'a large output', target: batch('large', { 0: 300_000 }) },
  { name: 'nested and lazy procedures', target: batch('deep.er.hello,later.hello') },
  { name: 'superjson', target: batch('rich,fail'), options: transformed },
  {
    name: 'a media type of one’s own',
    target: batch('hello'),
    options: { streams: { jsonl: { contentType: 'application/jsonl' } } },
  },
  { name: 'more calls than may be', target: batch('nil,nil,nil'), options: { rpc: { maxBatchSize: 2 } } },
  {
    name: 'no batches allowed',
    target: batch('nil'),
    options: { rpc: { allowBatching: false } },
  },
  { name: 'a stream that is no batch', target: '/hello' },
];

export const serverSentEvents: readonly StreamRow[] = [
  { name: 'events and the end', target: `/count?${range(5)}` },
  { name: 'no event at all', target: `/count?${range(0)}` },
  { name: 'a thousand events', target: `/count?${range(1000)}` },
  { name: 'tracked events', target: `/numbered?${range(3)}` },
  { name: 'tracked and untracked events', target: '/mixed' },
  { name: 'the Last-Event-ID header', target: `/numbered?${range(4)}`, headers: { 'last-event-id': '2' } },
  {
    name: 'a Last-Event-ID before untracked events',
    target: `/count?${range(2)}`,
    headers: { 'last-event-id': 'n-é-7' },
  },
  { name: 'the lastEventId parameter', target: `/numbered?${range(4)}&lastEventId=3` },
  { name: 'an observable', target: `/observed?${input(4)}` },
  { name: 'an observable that fails', target: '/observedFails' },
  { name: 'an error before the first event', target: '/failsBefore' },
  { name: 'an error after two events', target: `/failsAfter?${input(2)}` },
  { name: 'an error before there is a stream', target: '/throwsAtOnce' },
  { name: 'a procedure that gives no stream', target: '/notIterable' },
  { name: 'an input that the schema refuses', target: `/count?${input({ to: 'x' })}` },
  { name: 'an input that is not JSON', target: '/count?input=%7B' },
  { name: 'connectionParams that are not JSON', target: '/watch?connectionParams=%7B' },
  { name: 'a subscription in a batch', target: batch('count', { 0: { to: 1 } }) },
  { name: 'a lazy router', target: '/later.count' },
  { name: 'superjson', target: '/events', options: transformed },
  { name: 'superjson, with an error', target: '/eventsFail', options: transformed },
  {
    name: 'options for the client',
    target: `/count?${range(1)}`,
    options: {
      streams: {
        sse: { ping: { enabled: true, intervalMs: 9000 }, client: { reconnectAfterInactivityMs: 10_000 } },
      },
    },
  },
  {
    name: 'pings',
    target: `/count?${input({ to: 1, everyMs: 250 })}`,
    options: { streams: { sse: { ping: { enabled: true, intervalMs: 150 } } } },
  },
  {
    name: 'the end after the first event',
    target: `/count?${input({ to: 5, everyMs: 50 })}`,
    options: { streams: { sse: { emitAndEndImmediately: true } } },
  },
  {
    name: 'the end after a time',
    target: `/count?${input({ to: 5, everyMs: 200 })}`,
    options: { streams: { sse: { maxDurationMs: 100 } } },
  },
  {
    name: 'no subscriptions allowed',
    target: `/count?${range(1)}`,
    options: { streams: { sse: { enabled: false } } },
  },
  {
    name: 'a context that fails',
    target: '/watch',
    options: {
      admit: () => {
        throw new Error('Not you');
      },
    },
  },
];

/** What a client sends on a WebSocket, and how many messages it waits for before it sends the next. */
export interface SocketRow {
  readonly name: string;
  readonly send: readonly (readonly [message: string | Uint8Array, answers: number])[];
  readonly query?: string;
  readonly options?: StartOptions;
  /** That the server closes the socket in the end. */
  readonly closes?: true;
}

const request = (path: string, value?: unknown, method = 'query', id: unknown = 1) =>
  JSON.stringify({ id, method, params: { path, ...(value !== undefined && { input: value }) } });
const subscribe = (path: string, value?: unknown, id: unknown = 1) =>
  request(path, value, 'subscription', id);
const refuse = {
  admit: () => {
    throw new Error('Not you');
  },
};

export const webSocketMessages: readonly SocketRow[] = [
  { name: 'a query', send: [[request('hello', { name: 'ü 🐶 \u2028' }), 1]] },
  {
    name: 'an output of undefined, then of null',
    send: [
      [request('nothing'), 1],
      [request('nil'), 1],
    ],
  },
  { name: 'a mutation', send: [[request('write', { name: 'Rex' }, 'mutation'), 1]] },
  { name: 'an id that is a text', send: [[request('hello', undefined, 'query', 'a "b"'), 1]] },
  {
    name: 'jsonrpc 2.0 is echoed',
    send: [['{"jsonrpc":"2.0","id":4,"method":"query","params":{"path":"nil"}}', 1]],
  },
  { name: 'an error', send: [[request('fail', 'CONFLICT'), 1]] },
  { name: 'an input that the schema refuses', send: [[request('add', { a: 'x' }), 1]] },
  { name: 'a procedure that is not there', send: [[request('gone'), 1]] },
  { name: 'a mutation called as a query', send: [[request('write', { name: 'x' }), 1]] },
  { name: 'a stream from a query', send: [[request('iterable', 2), 1]] },
  { name: 'a batch', send: [[`[${request('hello')},${request('nil', undefined, 'query', 2)}]`, 2]] },
  {
    name: 'an empty batch',
    send: [
      ['[]', 0],
      [request('nil'), 1],
    ],
  },
  {
    name: 'a batch that is too large',
    send: [[`[${request('nil')},${request('nil', undefined, 'query', 'b')}]`, 2]],
    options: { rpc: { maxBatchSize: 1 } },
  },
  {
    name: 'a batch of what cannot be answered, too large',
    send: [['[1,2]', 1]],
    options: { rpc: { maxBatchSize: 1 } },
  },
  { name: 'a subscription', send: [[subscribe('count', { to: 3 }), 5]] },
  { name: 'a subscription without events', send: [[subscribe('count', { to: 0 }), 2]] },
  { name: 'tracked events', send: [[subscribe('numbered', { to: 2 }), 4]] },
  { name: 'tracked and untracked events', send: [[subscribe('mixed'), 5]] },
  {
    name: 'lastEventId',
    send: [
      ['{"id":1,"method":"subscription","params":{"path":"numbered","input":{"to":5},"lastEventId":"4"}}', 3],
    ],
  },
  {
    name: 'lastEventId where there is no input',
    send: [['{"id":1,"method":"subscription","params":{"path":"mixed","lastEventId":"4"}}', 5]],
  },
  { name: 'an observable', send: [[subscribe('observed', 2), 4]] },
  { name: 'an observable that fails', send: [[subscribe('observedFails'), 3]] },
  { name: 'an error before the first event', send: [[subscribe('failsBefore'), 2]] },
  { name: 'an error after two events', send: [[subscribe('failsAfter', 2), 4]] },
  { name: 'an error before there is a stream', send: [[subscribe('throwsAtOnce'), 1]] },
  { name: 'a procedure that gives no stream', send: [[subscribe('notIterable'), 1]] },
  {
    name: 'a stop, and the id used again',
    send: [
      [subscribe('watch'), 2],
      ['{"id":1,"method":"subscription.stop"}', 1],
      [subscribe('count', { to: 1 }), 3],
    ],
  },
  {
    name: 'a stop of what does not run',
    send: [
      ['{"id":9,"method":"subscription.stop"}', 0],
      [request('nil'), 1],
    ],
  },
  {
    name: 'a running subscription’s id',
    send: [
      [subscribe('watch'), 2],
      [subscribe('count', { to: 1 }), 1],
    ],
  },
  {
    name: 'a lazy router',
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
  { name: 'no JSON', send: [['{', 1]] },
  { name: 'an empty message', send: [['', 1]] },
  { name: 'a number', send: [['5', 1]] },
  { name: 'null', send: [['null', 1]] },
  { name: 'a binary message where text is due', send: [[new Uint8Array([123, 125]), 1]] },
  { name: 'an unknown method', send: [['{"id":1,"method":"dance","params":{"path":"hello"}}', 1]] },
  { name: 'no params', send: [['{"id":1,"method":"query"}', 1]] },
  { name: 'an id of null', send: [['{"id":null,"method":"query","params":{"path":"nil"}}', 1]] },
  { name: 'no id', send: [['{"method":"query","params":{"path":"nil"}}', 1]] },
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
  { name: 'connectionParams that are no JSON', query: '?connectionParams=1', send: [['{', 1]], closes: true },
  {
    name: 'connectionParams of numbers',
    query: '?connectionParams=1',
    send: [['{"data":{"a":1}}', 1]],
    closes: true,
  },
  { name: 'a context that fails', send: [['PING', 1]], options: refuse, closes: true },
  {
    name: 'superjson',
    send: [
      [request('rich', { json: null }), 1],
      [request('fail', { json: null }), 1],
      [subscribe('events', { json: null }), 4],
    ],
    options: transformed,
  },
  {
    name: 'superjson, with an error in a stream',
    send: [[subscribe('eventsFail', { json: null }), 3]],
    options: transformed,
  },
  {
    name: 'an encoder of one’s own',
    send: [
      [invertedJson.encode({ id: 1, method: 'query', params: { path: 'hello' } }), 1],
      ['text', 1],
    ],
    options: { encoder: invertedJson },
  },
];
