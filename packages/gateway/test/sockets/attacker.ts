/** Opens WebSockets from one address that do what no client should, as a process: `startPinned(1, …)`. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { respondToParent } from '../load/pinned.ts';
import { frame } from '../rpcClients/webSocketFrame.ts';

/**
 * What the sockets do: call, read the answer and close, as they should; nothing; send 3.9 MB, or 64 KiB, of a message that does not end; send pings and read nothing; call
 * and read nothing.
 */
export type AttackKind =
  | 'none'
  | 'no credential'
  | 'unfinished frame'
  | 'unfinished frame of 64 KiB'
  | 'unread pongs'
  | 'unread answers';

export interface Attack {
  readonly port: number;
  readonly kind: AttackKind;
  /** Whether each request for a socket brings a good key. Without, it says that the key comes with the first message. */
  readonly hasKey: boolean;
  /** How many are open at once: one that is closed, or refused, is opened again. */
  readonly sockets: number;
  readonly seconds: number;
}

/** What became of the sockets. */
export interface Attacked {
  readonly accepted: number;
  readonly refused: number;
  /** How many of those accepted the server ended. */
  readonly ended: number;
}

const upgrade = (hasKey: boolean) =>
  `GET /trpc${hasKey ? '' : '?connectionParams=1'} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n` +
  'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
  `${hasKey ? 'Authorization: Bearer good-key\r\n' : ''}\r\n`;

/** A text message that lacks its last bytes. */
const unfinished = frame('', { length: 3_900_001 });
const junk = Buffer.alloc(65_536, 'x');
const junkPieces = 59;
const unfinishedShort = frame('x'.repeat(65_500), { length: 65_536 });
const pings = Buffer.concat(Array.from({ length: 500 }, () => frame('x'.repeat(120), { opcode: 9 })));
const badKey = frame('{"method":"connectionParams","data":{"authorization":"Bearer bad"}}');
const smallCall = frame('{"id":1,"method":"query","params":{"path":"small"}}');
const largeCall = frame('{"id":1,"method":"query","params":{"path":"large"}}');

/** How often pings are sent again, in milliseconds. */
const pingsEveryMs = 20;
/** How often each socket calls: an answer has 128 KiB, and the kernel takes up to 4 MB of a socket's. */
const callsOfSocket = 40;
const renewAfterMs = 1000;

async function attack({ port, kind, hasKey, sockets, seconds }: Attack): Promise<Attacked> {
  let accepted = 0;
  let refused = 0;
  let ended = 0;
  let isOver = false;
  const open = new Set<Socket>();

  function repeat(socket: Socket, piece: Buffer, everyMs: number, pieces = Infinity): void {
    let sent = 0;
    const send = () => {
      if (isOver || socket.destroyed || sent >= pieces) return;
      sent += 1;
      if (socket.write(piece)) setTimeout(send, everyMs);
      else socket.once('drain', send);
    };
    // Not all sockets at the same time.
    setTimeout(send, Math.random() * everyMs);
  }

  function begin(socket: Socket): void {
    if (kind === 'none') {
      socket.write(smallCall);
      socket.once('data', () => socket.destroy());
    } else if (kind === 'unfinished frame') {
      socket.write(unfinished);
      repeat(socket, junk, 0, junkPieces);
    } else if (kind === 'unfinished frame of 64 KiB') {
      socket.write(unfinishedShort);
    } else if (kind === 'unread pongs') {
      repeat(socket, pings, pingsEveryMs);
    } else if (kind === 'unread answers') {
      if (!hasKey) socket.write(badKey);
      repeat(socket, largeCall, (seconds * 1000) / callsOfSocket);
    }
  }

  function dial(): void {
    if (isOver) return;
    let isAccepted = false;
    const socket = connect({ port, host: '127.0.0.1' });
    open.add(socket);
    socket.on('error', () => {});
    socket.once('data', (chunk: Buffer) => {
      isAccepted = chunk.toString('latin1', 9, 12) === '101';
      if (isAccepted) {
        accepted += 1;
        if (kind.startsWith('unread')) socket.pause();
        begin(socket);
      } else {
        refused += 1;
        socket.destroy();
      }
    });
    socket.once('close', () => {
      open.delete(socket);
      if (isAccepted && !isOver) ended += 1;
      // Not at once: to open sockets as fast as the machine can is another attack.
      setTimeout(dial, renewAfterMs);
    });
    socket.write(upgrade(hasKey));
  }

  for (let count = 0; count < sockets; count += 1) {
    dial();
    // No more at once than fit the queue of the listener.
    if (count % 100 === 99) await sleep(20);
  }
  await sleep(seconds * 1000);
  isOver = true;
  for (const socket of open) socket.destroy();
  return { accepted, refused, ended };
}

respondToParent((message) => attack(message as Attack));
