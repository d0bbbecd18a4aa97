import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { rawSocket, upgradeRequest } from '../wire/rawSocket.ts';
import { FrameReader } from '@petstore/testing/webSocketFrames';

/** A raw WebSocket connection that can send frames no client library would send. */
export interface Probe {
  readonly socket: Socket;
  readonly received: FrameReader;
  /** Code of the server's close frame; 1006, as in browsers, if the connection ended without one. */
  readonly closed: Promise<number>;
}

/** Opens a WebSocket and waits for the response to the upgrade. */
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
    // After a close frame the connection is closed (RFC 6455 §7.1.1).
    if (received.closeCode !== undefined) socket.end();
  });
  const end = performance.now() + 10_000;
  while (received.status === 0 && !socket.closed && performance.now() < end) await sleep(2);
  if (received.status === 0) throw new Error('The server did not answer the WebSocket upgrade within 10 s.');
  return { socket, received, closed };
}
