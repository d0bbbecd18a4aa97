/** A process with clients that flood a server. Start it with `startPinned(1, …)`. */
import { connect, type Socket } from 'node:net';
import { type Flood, type FloodName, floods } from './floodKinds.ts';
import { respondToParent } from './pinned.ts';

export interface FlooderMessage {
  readonly port: number;
  readonly flood: FloodName;
  readonly seconds: number;
}

async function flood({ port, flood: name, seconds }: FlooderMessage): Promise<object> {
  // About the round-trip time of a client on another machine.
  const { connections, head, block, isOnce = false, pauseMs, reopenMs = 1 }: Flood = floods[name];
  // Bytes of WebSocket frames, or ASCII.
  const piece = Buffer.from(block, 'latin1');
  const open = new Set<Socket>();
  let isFinished = false;
  const client = () => {
    if (isFinished) return;
    const socket = connect(port, '127.0.0.1');
    open.add(socket);
    socket.pause();
    socket.on('error', () => {});
    socket.once('connect', () => {
      socket.write(head);
      if (!head.includes('Upgrade: websocket')) return send();
      socket.resume().once('data', () => {
        socket.pause();
        send();
      });
    });
    const send = () => {
      if (!socket.writable) socket.destroy();
      else if (isOnce) socket.write(piece);
      else if (pauseMs === undefined) socket.write(piece, send);
      else socket.write(piece, () => setTimeout(send, pauseMs));
    };
    socket.once('close', () => {
      open.delete(socket);
      setTimeout(client, reopenMs);
    });
  };
  for (let at = 0; at < connections; at += 1) client();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  isFinished = true;
  for (const socket of open) socket.destroy();
  return {};
}

respondToParent((message) => flood(message as FlooderMessage));
