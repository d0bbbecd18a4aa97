import { Buffer } from 'node:buffer';
import { closedWithinMs, maxPayload, OpenSocket, type OpenSockets } from '../serve/openSockets.ts';
import type { NativeSocket } from './native.ts';
import type { BunResponder, SocketData } from './responder.ts';

/** A WebSocket of Bun, with what Bun keeps with it: `socket` once it is open. */
type Native = NativeSocket<SocketData & { socket?: BunSocket }>;

class BunSocket extends OpenSocket {
  readonly #ws: Native;

  constructor(ws: Native, openSockets: OpenSockets) {
    super(openSockets);
    this.#ws = ws;
  }

  send(message: string | Uint8Array): void {
    if (!this.isClosed && this.#ws.send(message) <= 0) this.updateUnsentBytes();
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.terminate();
  }

  /** Both `close` and `terminate` call the close handler synchronously. Bun does not report the connection's end. */
  protected sendClose(onEnd: () => void, code?: number, reason?: string): void {
    setTimeout(onEnd, closedWithinMs).unref();
    // 1005 is a close frame without a code; without an argument, Bun sends 1000.
    this.#ws.close(code ?? 1005, reason);
  }

  protected waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }
}

export const webSocketHandlers = (maxMessageSize: number, sockets: OpenSockets, responder: BunResponder) => ({
  maxPayloadLength: maxPayload(maxMessageSize),
  // No limit: over one, Bun drops messages. The handler limits each socket, and `OpenSockets` all of them together.
  backpressureLimit: 0,
  // Bun pings idle clients, so this only closes sockets whose client has disappeared.
  idleTimeout: 120,
  sendPings: true,
  open(ws: Native) {
    ws.data.socket = new BunSocket(ws, sockets);
    ws.data.socket.accept(ws.data.accept);
  },
  message({ data: { socket } }: Native, message: string | Buffer) {
    const isBinary = typeof message !== 'string';
    socket?.receive(isBinary ? message : Buffer.from(message), isBinary, maxMessageSize);
  },
  ping({ data: { socket } }: Native) {
    if (socket?.countPing()) socket.handler?.pinged();
  },
  drain({ data: { socket } }: Native) {
    socket?.updateUnsentBytes();
    socket?.handler?.drained();
  },
  close({ data: { socket, request } }: Native, code: number, reason: string) {
    request.onDisconnect();
    if (socket) responder.count(socket.onNativeClose(code, reason));
  },
});
