/** Opens misbehaving WebSockets from one address, started as a process by `startPinned(1, …)`. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { respondToParent } from '../load/pinned.ts';
import { frame } from '../trpcClients/webSocketFrame.ts';

/** What each socket does once it is open. */
export type AttackKind =
  /** Sends a call, reads the response and closes, as a client should. */
  | 'none'
  /** Sends nothing. */
  | 'no credential'
  /** Sends 3.9 MB of a message and never completes it. */
  | 'unfinished frame'
  /** Sends 64 KiB of a message and never completes it. */
  | 'unfinished frame of 64 KiB'
  /** Sends pings and does not read. */
  | 'unread pongs'
  /** Sends calls and does not read. */
  | 'unread responses';

export interface Attack {
  readonly port: number;
  readonly kind: AttackKind;
  /** Whether upgrade requests carry a valid key. If not, their URL has `connectionParams=1`: the key is to follow. */
  readonly hasKey: boolean;
  /** Number of sockets to keep open. A socket that is closed or rejected is opened again after 1 s. */
  readonly sockets: number;
  readonly seconds: number;
}

/** The number of sockets by outcome. */
export interface SocketCounts {
  readonly accepted: number;
  readonly rejected: number;
  /** Accepted sockets that the server closed. */
  readonly ended: number;
}

const upgradeRequest = (hasKey: boolean) =>
  `GET /trpc${hasKey ? '' : '?connectionParams=1'} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n` +
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
  `${hasKey ? 'Authorization: Bearer good-key\r\n' : ''}\r\n`;

/** The head of a text message of 3.9 MB; with all junk, one byte is missing. */
const unfinished = frame('', { length: 3_900_001 });
const junk = Buffer.alloc(65_536, 'x');
const junkPieces = 59;
const unfinishedShort = frame('x'.repeat(65_500), { length: 65_536 });
const pings = Buffer.concat(Array.from({ length: 500 }, () => frame('x'.repeat(120), { opcode: 9 })));
const badKey = frame('{"method":"connectionParams","data":{"authorization":"Bearer bad"}}');
const smallCall = frame('{"id":1,"method":"query","params":{"path":"small"}}');
const largeCall = frame('{"id":1,"method":"query","params":{"path":"large"}}');

/** Interval between two batches of pings, in milliseconds. */
const pingIntervalMs = 20;
/** Number of calls of a socket. A response has 128 KiB, and the kernel buffers up to 4 MB of a socket. */
const callsPerSocket = 40;
const reopenAfterMs = 1000;

async function attack({ port, kind, hasKey, sockets, seconds }: Attack): Promise<SocketCounts> {
  let accepted = 0;
  let rejected = 0;
  let ended = 0;
  let isStopped = false;
  const open = new Set<Socket>();

  function sendRepeatedly(socket: Socket, piece: Buffer, intervalMs: number, pieces = Infinity): void {
    let sent = 0;
    const send = () => {
      if (isStopped || socket.destroyed || sent >= pieces) return;
      sent += 1;
      if (socket.write(piece)) setTimeout(send, intervalMs);
      else socket.once('drain', send);
    };
    // Spreads the sockets over the interval.
    setTimeout(send, Math.random() * intervalMs);
  }

  function misbehave(socket: Socket): void {
    if (kind === 'none') {
      socket.write(smallCall);
      socket.once('data', () => socket.destroy());
    } else if (kind === 'unfinished frame') {
      socket.write(unfinished);
      sendRepeatedly(socket, junk, 0, junkPieces);
    } else if (kind === 'unfinished frame of 64 KiB') {
      socket.write(unfinishedShort);
    } else if (kind === 'unread pongs') {
      sendRepeatedly(socket, pings, pingIntervalMs);
    } else if (kind === 'unread responses') {
      if (!hasKey) socket.write(badKey);
      sendRepeatedly(socket, largeCall, (seconds * 1000) / callsPerSocket);
    }
  }

  function openSocket(): void {
    if (isStopped) return;
    let isAccepted = false;
    const socket = connect({ port, host: '127.0.0.1' });
    open.add(socket);
    socket.on('error', () => {});
    socket.once('data', (chunk: Buffer) => {
      isAccepted = chunk.toString('latin1', 9, 12) === '101';
      if (isAccepted) {
        accepted += 1;
        if (kind.startsWith('unread')) socket.pause();
        misbehave(socket);
      } else {
        rejected += 1;
        socket.destroy();
      }
    });
    socket.once('close', () => {
      open.delete(socket);
      if (isAccepted && !isStopped) ended += 1;
      // With a delay: opening sockets as fast as possible would be a different attack.
      setTimeout(openSocket, reopenAfterMs);
    });
    socket.write(upgradeRequest(hasKey));
  }

  for (let count = 0; count < sockets; count += 1) {
    openSocket();
    // At most as many at once as fit into the listen queue of the server.
    if (count % 100 === 99) await sleep(20);
  }
  await sleep(seconds * 1000);
  isStopped = true;
  for (const socket of open) socket.destroy();
  return { accepted, rejected, ended };
}

respondToParent((message) => attack(message as Attack));
