import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_socket_context_t,
  WebSocket,
} from '@uwsjs/core';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { closedWithinMs, maxPayload, OpenSocket, type OpenSockets } from '../serve/openSockets.ts';
import type { RequestLimits } from '../serve/requestHead.ts';
import { UwsRequest } from './request.ts';
import type { UwsResponder } from './responder.ts';

interface WebSocketsOptions {
  readonly service: Service;
  readonly sockets: OpenSockets;
  readonly responder: UwsResponder;
  readonly limits: RequestLimits;
  readonly onUpgrade: () => void;
}

/** User data that uWS stores with each WebSocket. */
interface SocketData {
  readonly request: UwsRequest;
  readonly accept: SocketAcceptor;
  socket?: UwsSocket;
}

/** A WebSocket of uWebSockets.js. After it has closed, every native method throws, so none is called. */
class UwsSocket extends OpenSocket {
  readonly #ws: WebSocket<SocketData>;

  constructor(ws: WebSocket<SocketData>, openSockets: OpenSockets) {
    super(openSockets);
    this.#ws = ws;
  }

  send(message: string | Uint8Array): void {
    if (this.isClosed) return;
    // 1: the message is sent, or is in the cork buffer of a few kilobytes that uWS flushes at the end of the turn.
    if (this.#ws.send(message, typeof message !== 'string') !== 1) this.updateUnsentBytes();
  }

  terminate(): void {
    if (!this.isClosed) this.#ws.close();
  }

  /** `end` and `close` call the close handler synchronously. After `end`, uWebSockets.js 20 cannot close or report an end. */
  protected sendClose(onEnd: () => void, code?: number, reason?: string): void {
    setTimeout(onEnd, closedWithinMs).unref();
    this.#ws.end(code, reason);
  }

  protected waitingBytes(): number {
    return this.#ws.getBufferedAmount();
  }
}

/** Serves the WebSockets of a service, for all paths. */
export function attachWebSockets(app: TemplatedApp, options: WebSocketsOptions): void {
  const { service, sockets, responder } = options;
  const { maxMessageSize = defaultMessageBytes } = service;

  app.ws<SocketData>('/*', {
    // Maximum number of bytes of a message, complete or not, that uWS buffers. A frame that announces more ends the
    // connection; uWebSockets.js 20 then sends no close frame.
    maxPayloadLength: maxPayload(maxMessageSize),
    // 0 means no limit. With a limit, uWebSockets.js 20 drops messages over it and reports this only by a return value.
    // The handler limits each socket by `bufferedBytes`, and `OpenSockets` limits all sockets together.
    maxBackpressure: 0,
    // uWS pings idle clients automatically, so this only closes sockets whose client has disappeared.
    idleTimeout: 120,
    sendPingsAutomatically: true,
    // uWS.DISABLED: compression takes memory for each socket, and CPU time that any client can cause.
    compression: 0,

    upgrade: (res, req, context) => upgradeOrHandle(options, res, req, context),
    open: (ws) => {
      const data = ws.getUserData();
      data.socket = new UwsSocket(ws, sockets);
      data.socket.accept(data.accept);
    },
    message: (ws, message, isBinary) => {
      // Copied, since uWS detaches the memory when this handler returns. Node's pool saves a sixth of the time of a call.
      const data = Buffer.from(new Uint8Array(message));
      ws.getUserData().socket?.receive(data, isBinary, maxMessageSize);
    },
    ping: (ws) => {
      const { socket } = ws.getUserData();
      if (socket?.countPing()) socket.handler?.pinged();
    },
    drain: (ws) => {
      const { socket } = ws.getUserData();
      socket?.updateUnsentBytes();
      socket?.handler?.drained();
    },
    close: (ws, code, message) => {
      const { socket, request } = ws.getUserData();
      request.onDisconnect();
      if (socket) responder.count(socket.onNativeClose(code, Buffer.from(message).toString()));
    },
  });
}

function upgradeOrHandle(
  { limits, sockets, responder, onUpgrade }: WebSocketsOptions,
  res: NativeResponse,
  req: NativeRequest,
  context: us_socket_context_t,
): void {
  const request = new UwsRequest(res, req, limits);
  const decision = request.isUpgrade ? sockets.decide(request) : undefined;
  if (!decision) return responder.receive(request);
  // Headers can be read only while the handler runs.
  const key = req.getHeader('sec-websocket-key');
  // uWS accepts the first of several, as the package ws does.
  const protocol = req.getHeader('sec-websocket-protocol');
  const extensions = req.getHeader('sec-websocket-extensions');
  /*
   * Never within `res.cork`, as upstream's example does. After its callback, uWebSockets.js 20 still treats the memory
   * as the old response. If the WebSocket has the same address and looks like a response that should close, uWS closes
   * it: one socket in some hundreds. Without `cork`, uWS only warns on stderr, after asynchronous decisions.
   */
  const open = (accept: SocketAcceptor) => {
    request.onUpgrade();
    res.upgrade<SocketData>({ request, accept }, key, protocol, extensions, context);
    onUpgrade();
  };
  if (typeof decision === 'function') return open(decision);
  const openOrRespond = async () => {
    const outcome = await sockets.settle(decision);
    if (typeof outcome !== 'function') responder.respondLater(request, outcome);
    else if (!request.isAborted) open(outcome);
  };
  responder.track(request, openOrRespond());
}
