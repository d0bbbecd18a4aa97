import { expect } from 'vitest';
import type { SocketHandler, WebSocketPeer } from '../../http/webSocket.ts';
import { dial, until } from './dial.ts';

export type RecordingHandler = ReturnType<typeof recordingHandler>;

/** A handler of a WebSocket that records the calls of its methods. */
export function recordingHandler(socket: WebSocketPeer) {
  const events: string[] = [];
  const handler: SocketHandler = {
    inFlight: 0,
    message: (data, isBinary) => events.push(`${isBinary ? 'bytes' : 'text'} ${data.toString()}`),
    pinged: () => events.push('pinged'),
    drained: () => events.push('drained'),
    limited: (limit) => events.push(limit),
    closed: async () => {
      events.push('closed');
    },
    drain() {
      socket.close(1001);
    },
  };
  return { ...handler, socket, events };
}

/** Creates an acceptor of sockets, with the handlers that it has created. */
export function recordingAcceptor() {
  const handlers: RecordingHandler[] = [];
  const accept = (socket: WebSocketPeer): RecordingHandler => {
    const handler = recordingHandler(socket);
    handlers.push(handler);
    return handler;
  };
  return { accept, handlers };
}

/** The head of a WebSocket upgrade, without the empty line at its end. */
export const handshake =
  'GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

/** Opens a WebSocket without a WebSocket client, so that the test can write frames and stop reading. Returns both ends. */
export async function openRaw(handlers: readonly RecordingHandler[], ...dialed: Parameters<typeof dial>) {
  const [listening, bytes = `${handshake}\r\n`, options] = dialed;
  const connection = await dial(listening, bytes, options);
  await until(() => expect(connection.text()).toContain('101'));
  const chunks: Buffer[] = [];
  connection.socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { ...connection, bytes: () => Buffer.concat(chunks), server: handlers[0] as RecordingHandler };
}
