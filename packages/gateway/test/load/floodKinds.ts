import { createHead, getOne, listTools } from './requests.ts';
import { socketFloods } from './socketFloodKinds.ts';

/** Each connection sends `head` once and then repeats `block` as fast as the server reads. It reads nothing itself. */
interface Flood {
  readonly connections: number;
  readonly head: string;
  readonly block: string;
}

const withFraming = (head: string, framing: string) => head.replace(/Content-Length: \d+/, framing);
const withoutKey = (head: string) => head.replace(/Authorization: .*\r\n/, '');
const chunkedHead = `${withFraming(createHead, 'Transfer-Encoding: chunked')}\r\n`;
const endlessHead = `${withFraming(createHead, 'Content-Length: 999999999')}\r\n`;
const oneByteChunks = '1\r\nx\r\n'.repeat(10_000);
const filler = 'x'.repeat(65_536);

const pipelined = (requestLine: string, connections: number): Flood => ({
  connections,
  head: '',
  block: `${requestLine} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(2000),
});

export const floods = {
  'pipelined HEAD requests on 2 connections': pipelined('HEAD /healthz', 2),
  'pipelined HEAD requests on 10 connections': pipelined('HEAD /healthz', 10),
  'pipelined HEAD requests on 20 connections': pipelined('HEAD /healthz', 20),
  'pipelined GET requests on 20 connections': pipelined('GET /healthz', 20),
  'pipelined GET requests without a key on 20 connections': pipelined('GET /v1/pets', 20),
  'pipelined GET requests with a key': { connections: 10, head: '', block: getOne.repeat(500) },
  'pipelined lists of tools with a key': { connections: 10, head: '', block: listTools.repeat(500) },
  'chunks of one byte with a key': { connections: 4, head: chunkedHead, block: oneByteChunks },
  'chunks of one byte without a key': {
    connections: 4,
    head: withoutKey(chunkedHead),
    block: oneByteChunks,
  },
  'endless bodies without a key': { connections: 10, head: withoutKey(endlessHead), block: filler },
  'endless bodies with a key': { connections: 10, head: endlessHead, block: filler },
  'endless chunked bodies with a key': {
    connections: 10,
    head: chunkedHead,
    block: `10000\r\n${filler}\r\n`,
  },
  ...socketFloods,
} satisfies Record<string, Flood>;

export type FloodName = keyof typeof floods;
