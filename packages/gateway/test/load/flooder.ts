/** A process with clients that flood a server. Start it with `startPinned(1, …)`. */
import { connect, type Socket } from 'node:net';
import { respondToParent } from './pinned.ts';
import { createHead, getOne } from './requests.ts';

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

export const floods = {
  'pipelined HEAD requests': {
    connections: 10,
    head: '',
    block: 'HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000),
  },
  'pipelined GET requests with a key': { connections: 10, head: '', block: getOne.repeat(500) },
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
} satisfies Record<string, Flood>;

export type FloodName = keyof typeof floods;

export interface FlooderMessage {
  readonly port: number;
  readonly flood: FloodName;
  readonly seconds: number;
}

export interface Flooded {
  readonly bytesSent: number;
  /** How often the server closed a connection. */
  readonly closed: number;
}

async function flood({ port, flood: name, seconds }: FlooderMessage): Promise<Flooded> {
  const { connections, head, block } = floods[name];
  const piece = Buffer.from(block);
  const open = new Set<Socket>();
  let bytesSent = 0;
  let closed = 0;
  let isFinished = false;
  const client = () => {
    const socket = connect(port, '127.0.0.1');
    open.add(socket);
    socket.pause();
    socket.on('error', () => {});
    socket.once('connect', () => {
      socket.write(head);
      send();
    });
    const send = () => {
      if (socket.writable) socket.write(piece, send);
      else socket.destroy();
    };
    socket.once('close', () => {
      open.delete(socket);
      bytesSent += socket.bytesWritten - socket.writableLength;
      if (isFinished) return;
      closed += 1;
      // About the round-trip time of a client on another machine.
      setTimeout(client, 1);
    });
  };
  for (let at = 0; at < connections; at += 1) client();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  isFinished = true;
  for (const socket of open) {
    bytesSent += socket.bytesWritten - socket.writableLength;
    socket.removeAllListeners('close').destroy();
  }
  return { bytesSent, closed };
}

respondToParent((message) => flood(message as FlooderMessage));
