import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { frame } from '@petstore/testing/webSocketFrames';

// Calls over WebSockets, as fast as they are answered. A process: `node socketCalls.ts '<options>'` prints a `Load`.
//
// It reads the frames of RFC 6455 itself: a client that makes and parses messages costs more than the server that
// answers them, and would be measured in its place.

export interface SocketCallsOptions {
  readonly port: number;
  readonly path: string;
  readonly authorization: string;
  readonly sockets: number;
  /** The calls that each socket has open at once: they are sent together, and again when all are answered. */
  readonly messages: readonly string[];
  readonly seconds: number;
}

const options = JSON.parse(process.argv[2] ?? '{}') as SocketCallsOptions;
const calls = Buffer.concat(options.messages.map((text) => frame(text)));
const sockets = await Promise.all(Array.from({ length: options.sockets }, open));
let response = 0;
let isOver = false;

const since = performance.now();
for (const socket of sockets) request(socket);
await new Promise((resolve) => setTimeout(resolve, options.seconds * 1000));
isOver = true;
process.stdout.write(JSON.stringify({ requests: response, seconds: (performance.now() - since) / 1000 }));
for (const socket of sockets) socket.destroy();

async function open(): Promise<Socket> {
  const socket = connect(options.port, '127.0.0.1').setNoDelay(true);
  socket.write(
    `GET ${options.path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n` +
      `Authorization: ${options.authorization}\r\n\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(head.toString('latin1'));
  return socket;
}

function request(socket: Socket): void {
  let pending = 0;
  /** How many bytes of the frame that is coming in are still to come. */
  let rest = 0;
  let head: Buffer = Buffer.alloc(0);
  const send = () => {
    pending = options.messages.length;
    socket.write(calls);
  };
  socket.on('data', (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (rest === 0) {
        // A head is rarely split over two chunks: then it is put together.
        const length = headLength(
          head.length > 0 ? Buffer.concat([head, chunk.subarray(at)]) : chunk.subarray(at),
        );
        if (length === undefined) {
          head = Buffer.concat([head, chunk.subarray(at)]);
          return;
        }
        at += length.head - head.length;
        head = Buffer.alloc(0);
        rest = length.payload;
      }
      const taken = Math.min(rest, chunk.length - at);
      rest -= taken;
      at += taken;
      if (rest > 0) return;
      if (!isOver) response += 1;
      pending -= 1;
      if (pending === 0) send();
    }
  });
  socket.on('close', () => {
    if (!isOver) throw new Error('The server closed a socket.');
  });
  send();
}

/** The lengths of a frame's head and payload; `undefined` where too little of it is there. */
function headLength(bytes: Buffer): { readonly head: number; readonly payload: number } | undefined {
  if (bytes.length < 2) return undefined;
  if (bytes[0] !== 0x81) throw new Error(`A frame that is no text: ${bytes.subarray(0, 80).toString('hex')}`);
  const short = bytes[1] as number;
  if (short < 126) return { head: 2, payload: short };
  if (short === 127) throw new Error('A frame is longer than any response.');
  return bytes.length < 4 ? undefined : { head: 4, payload: bytes.readUInt16BE(2) };
}
