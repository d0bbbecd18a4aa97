import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawSocket, upgradeRequest } from './rawHttp.ts';
import { FrameReader } from './webSocketFrame.ts';

/** A WebSocket spoken byte by byte: what no client would send, and what the server makes of it. */
export interface Probe {
  readonly socket: Socket;
  readonly received: FrameReader;
  /** The code of the server's close frame; 1006 where it ended the connection without one, as clients name that. */
  readonly closed: Promise<number>;
  /** Resolves when this is so, or the connection is closed, or the time is over. */
  readonly until: (condition: () => boolean, ms?: number) => Promise<void>;
}

/** Opens a WebSocket and waits for the answer to the upgrade. */
export async function probe(port: number, target = '/trpc'): Promise<Probe> {
  const socket = rawSocket(port, upgradeRequest(target));
  const received = new FrameReader();
  const closed = new Promise<number>((resolve) => {
    socket.on('close', () => {
      resolve(received.closeCode ?? 1006);
    });
  });
  socket.on('data', (chunk) => {
    received.push(chunk);
    // Who got a close frame ends the connection (RFC 6455 §7.1.1).
    if (received.closeCode !== undefined) socket.end();
  });
  const until = async (condition: () => boolean, ms = 3000) => {
    const end = performance.now() + ms;
    while (!condition() && !socket.closed && performance.now() < end) await sleep(2);
  };
  await until(() => received.status !== 0, 10_000);
  if (received.status === 0) throw new Error('The request for a WebSocket was not answered.');
  return { socket, received, closed, until };
}
