import { frame } from '@petstore/testing/webSocketFrames';
import { apiKey, createHead, getAll, getOne, listTools } from './requests.ts';

/** Each connection sends `head` once and then repeats `block` as fast as the server reads. It reads nothing itself. */
export interface Flood {
  readonly connections: number;
  readonly head: string;
  readonly block: string;
  /** Whether each connection sends `block` once, and then keeps the connection without reading. */
  readonly isOnce?: boolean;
  /** Pause between two blocks, in milliseconds. */
  readonly pauseMs?: number;
  /** Time until a connection that the server has closed is opened again, in milliseconds. Default: a round trip. */
  readonly reopenMs?: number;
}

const withFraming = (head: string, framing: string) => head.replace(/Content-Length: \d+/, framing);
const withoutKey = (head: string) => head.replace(/Authorization: .*\r\n/, '');
const chunkedHead = `${withFraming(createHead, 'Transfer-Encoding: chunked')}\r\n`;
const endlessHead = `${withFraming(createHead, 'Content-Length: 999999999')}\r\n`;

const request = (requestLine: string, headers = '') =>
  `${requestLine} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const post = (head: string, body: string) =>
  `${withFraming(head, `Content-Length: ${body.length}`)}\r\n${body}`;

const pipelined = (text: string, connections: number, times = 2000): Flood => ({
  connections,
  head: '',
  block: text.repeat(times),
});
/** Connections that pipeline requests for large responses once, and read nothing. */
const unread = (text: string, connections: number): Flood => ({
  connections,
  head: '',
  block: text.repeat(20),
  isOnce: true,
});

/** Three lists in a batch of tRPC, as JSON Lines. */
const jsonLines = getAll
  .replace(/\S*\?\S*/, '/trpc/listPets,listPets,listPets?batch=1')
  .replace('\r\n\r\n', '\r\ntrpc-accept: application/jsonl\r\n\r\n');
const preflight = request(
  'OPTIONS /v1/pets',
  'Origin: https://other.example\r\nAccess-Control-Request-Method: POST\r\n',
);
const upgrade = (header: string, target = '/trpc') =>
  request(
    `GET ${target}`,
    `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${header}`,
  );
/** The request that opens a WebSocket with a valid key. The frames of a flood follow its response. */
const upgradeHead = upgrade(`Authorization: Bearer ${apiKey}\r\n`);
/** That of a WebSocket whose key is to follow. */
const upgradeWithoutKey = upgrade('', '/trpc?connectionParams=1');

/** A flood of messages on 10 WebSockets: `times` of them are written at once, again and again. */
const messages = (text: string, times: number): Flood => ({
  connections: 10,
  head: upgradeHead,
  block: frame(text).toString('latin1').repeat(times),
});

const call = (path: string, id = 1, method = 'query', input: object = { petId: 1 }) => ({
  id,
  method,
  params: { path, input },
});
const batchOf = (path: string, method = 'query') =>
  JSON.stringify(Array.from({ length: 2000 }, (_, id) => call(path, id, method)));

/** 250 WebSockets that send a block once and read nothing. Opening them at once again would be another flood. */
const held = (frames: readonly Uint8Array[], head = upgradeHead): Flood => ({
  connections: 250,
  head,
  block: Buffer.concat(frames).toString('latin1'),
  isOnce: true,
  reopenMs: 1000,
});
/** All but the last byte of a message of 3.9 MB. */
const unfinished = [frame('x'.repeat(3_899_999), { length: 3_900_000 })];
const pings = Array.from({ length: 500 }, () => frame('x'.repeat(120), { opcode: 9 }));
/** 40 calls with a response of 130 KB each. */
const largeCalls = Array.from({ length: 40 }, (_, id) =>
  frame(JSON.stringify(call('listPets', id, 'query', { limit: 14 }))),
);

export const floods = {
  'pipelined GET requests on 20 connections': pipelined(request('GET /healthz'), 20),
  'pipelined GET requests without a key on 20 connections (401)': pipelined(request('GET /v1/pets'), 20),
  'pipelined POST requests without a key, with bodies (401)': pipelined(
    post(withoutKey(createHead), 'x'.repeat(100)),
    20,
    500,
  ),
  'pipelined POST requests with a key and an invalid body (400)': pipelined(
    post(createHead, '{"name":1}'),
    10,
    500,
  ),
  'pipelined preflights of another origin': pipelined(preflight, 20),
  'pipelined requests without Host (400)': pipelined('GET /healthz HTTP/1.1\r\n\r\n', 20),
  'pipelined requests that are not HTTP': pipelined('no HTTP\r\n\r\n', 20),
  'pipelined upgrades of another origin': pipelined(upgrade('Origin: https://other.example\r\n'), 20, 500),
  'pipelined requests with long targets (414)': pipelined(request(`GET /${'x'.repeat(17_000)}`), 10, 10),
  'pipelined requests with many headers (431)': pipelined(
    request('GET /healthz', 'x: y\r\n'.repeat(3000)),
    10,
    10,
  ),
  'announced bodies that are too large (413)': { ...pipelined(endlessHead, 50, 1), isOnce: true },
  'pipelined GET requests with a key': pipelined(getOne, 10, 500),
  'pipelined lists of tools with a key': pipelined(listTools, 10, 500),
  'pipelined lists of 1 MB on 200 connections that read nothing': unread(getAll, 200),
  'pipelined JSON lines on 100 connections that read nothing': unread(jsonLines, 100),
  '20 requests every 2 ms on 20 connections that read nothing': {
    ...pipelined(request('GET /healthz'), 20, 20),
    pauseMs: 2,
  },
  'heads of a byte every 10 ms on 500 connections': {
    connections: 500,
    head: 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ',
    block: 'x',
    pauseMs: 10,
  },
  'a chunk of 100 bytes every 2 ms with a key on 100 connections': {
    connections: 100,
    head: chunkedHead,
    block: `64\r\n${'x'.repeat(100)}\r\n`,
    pauseMs: 2,
  },
  // 65,714 malformed messages are 460 KB, one read of uWebSockets.js.
  'malformed messages on 10 WebSockets': messages('{', 65_714),
  'PING messages on 10 WebSockets': messages('PING', 40_000),
  'queries on 10 WebSockets': messages(JSON.stringify(call('getPet')), 5000),
  'messages of 2,000 queries on 10 WebSockets': messages(batchOf('getPet'), 2),
  'messages of 2,000 unknown subscriptions on 10 WebSockets': messages(batchOf('none', 'subscription'), 2),
  'WebSockets that send no key': held([], upgradeWithoutKey),
  'WebSockets that do not finish a message of 3.9 MB': held(unfinished),
  'WebSockets without a key that do not finish a message of 3.9 MB': held(unfinished, upgradeWithoutKey),
  'WebSockets that ping and do not read': { ...held(pings), connections: 50 },
  'WebSockets that do not read their responses': held(largeCalls),
} satisfies Record<string, Flood>;

export type FloodName = keyof typeof floods;
