import { Buffer } from 'node:buffer';
import http from 'node:http';
import { GatewayError } from '../../checks/gatewayError.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import { createListening } from '../serve/createListening.ts';
import { ListenError } from '../serve/listenError.ts';
import { closedWithinMs, maxPayload, OpenSocket, OpenSockets } from '../serve/openSockets.ts';
import { serveSettings, type Listening, type ServeOptions } from '../serve/serveOptions.ts';
import { withCertificate } from '../serve/tlsFiles.ts';
import { Bun, type NativeSocket } from './native.ts';
import { BunResponder, type SocketData } from './responder.ts';

export { ListenError } from '../serve/listenError.ts';
export { reservePort, type ReservedPort } from '../serve/reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from '../serve/serveOptions.ts';
export { CertificateError, type TlsFiles } from '../serve/tlsFiles.ts';

/**
 * Serves a gateway, or your own `Service`, on `Bun.serve`. Resolves when the server listens.
 *
 * Not for direct exposure: put a proxy before it. Bun does not report which responses a client has not read, so one client
 * without a key can take the memory of the process, with requests that it sends slowly and whose responses it never reads.
 *
 * Bun itself rejects a head of more than twice `maxHeaderSize` (of the last `serve` of the process) with 431 and no
 * body, and does not limit its headers otherwise. `maxConnections` limits requests in flight and WebSockets, and
 * `maxUnsentSize` WebSockets.
 * @throws {ListenError} if the address cannot be listened on
 * @throws {CertificateError} if the certificate cannot be used
 * @throws {GatewayError} on another runtime than Bun, for options that are unknown or invalid, and if `service` is not a
 *   gateway, such as the promise of one
 */
export async function serve(service: Service, options: ServeOptions = {}): Promise<Listening> {
  const settings = serveSettings(service, options);
  const { host, port, reusePort, tls, keepAliveMs, maxConnections, maxUnsentSize, limits } = settings;
  if (!Bun) {
    throw new GatewayError(
      'trpc-gateway/bun runs on Bun 1.4 or newer. On Node, serve with trpc-gateway/uws or trpc-gateway/node.',
    );
  }
  // Bun accepts at most 255 s.
  const keepAliveSeconds = Math.min(Math.ceil(keepAliveMs / 1000), 255);
  const sockets = new OpenSockets(service, maxUnsentSize, maxConnections);
  const responder = new BunResponder(service, sockets, settings, keepAliveSeconds);
  const pem = tls && (await withCertificate(tls, (read) => read));
  // Typed as a constant, as it is in Node.
  (http as { maxHeaderSize: number }).maxHeaderSize = 2 * limits.maxHeaderSize;
  let native;
  try {
    native = Bun.serve({
      hostname: host,
      port,
      reusePort,
      tls: pem,
      development: false,
      idleTimeout: keepAliveSeconds,
      // The gateway rejects bodies over its own limits, as JSON.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: (request, server) => responder.receive(request, server),
      websocket: webSocketHandlers(service.maxMessageSize ?? defaultMessageBytes, sockets, responder),
    });
  } catch (error) {
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
  return {
    host,
    port: native.port,
    ...createListening({
      responder,
      sockets,
      connections: () => native.pendingRequests,
      stopClosesIdle: true,
      stopListening: () => void native.stop(),
      end: () => void native.stop(true),
    }),
  };
}

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

const webSocketHandlers = (maxMessageSize: number, sockets: OpenSockets, responder: BunResponder) => ({
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
