import type { SocketHandler, WebSocketPeer } from '../../../http/webSocket.ts';

/** A socket's owner that keeps what it is told. */
export interface Owner extends SocketHandler {
  readonly socket: WebSocketPeer;
  readonly told: string[];
}

export function owner(socket: WebSocketPeer): Owner {
  const told: string[] = [];
  return {
    socket,
    told,
    inFlight: 0,
    message: (data, isBinary) => told.push(`${isBinary ? 'bytes' : 'text'} ${data.toString()}`),
    pinged: () => told.push('pinged'),
    drained: () => told.push('drained'),
    limited: (limit) => told.push(limit),
    closed: async () => {
      told.push('closed');
    },
    drain() {
      socket.close(1001);
    },
  };
}

export const handshake =
  'GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
