import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  WebSocketBehavior,
  us_socket_context_t,
} from 'uWebSockets.js';
import type { HttpResponse } from '../../http/response.ts';
import { defaultMessageBytes, type Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import type { OpenSockets } from '../server/openSockets.ts';
import { internalError, stopping } from '../server/rejections.ts';
import { UwsRequest } from './request.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import type { Responder } from './responder.ts';
import { UwsSocket, type SocketData } from './socket.ts';

/** With a smaller limit, messages up to this size are received so that they can be rejected with 1009. */
const minPayloadBytes = 65_536;

/** What uWebSockets.js 20 says of a connection that it ends for a message beyond `maxPayloadLength`. */
const tooBig = 'Received too big message';

interface WebSocketsOptions {
  readonly service: Service;
  readonly sockets: OpenSockets;
  readonly responder: Responder;
  readonly limits: RequestLimits;
  /** An HTTP connection has become a WebSocket. */
  readonly onUpgrade: () => void;
}

/**
 * uWebSockets.js 20 has one limit for the messages of a behaviour, and a socket keeps that which it is opened with. So
 * there are two behaviours, both for all paths, which takes two patterns; either opens sockets for both.
 */
export function attachWebSockets(app: TemplatedApp, options: WebSocketsOptions): void {
  const { maxMessageBytes = defaultMessageBytes, maxUnauthenticatedBytes = defaultMessageBytes } =
    options.service;
  /** uWS's handles of the two behaviours, the one for clients that are not authenticated second. */
  const contexts: us_socket_context_t[] = [];
  const serve = (pattern: string, index: number, maxBytes: number, maxPayloadBytes: number) =>
    app.ws<SocketData>(pattern, {
      ...behavior(options, maxBytes, maxPayloadBytes),
      upgrade: (res, req, context) => {
        contexts[index] = context;
        const [admitted, unauthenticated] = contexts;
        if (admitted && unauthenticated) upgradeOrHandle(options, res, req, admitted, unauthenticated);
        // The first request of all goes through both: an upgrade is the one place where uWS says what a context is.
        else req.setYield(true);
      },
    });
  serve('/*', 0, maxMessageBytes, Math.max(maxMessageBytes, minPayloadBytes));
  const smaller = Math.min(maxMessageBytes, maxUnauthenticatedBytes);
  serve('/*unauthenticated', 1, smaller, maxUnauthenticatedBytes);
}

function upgradeOrHandle(
  options: WebSocketsOptions,
  res: NativeResponse,
  req: NativeRequest,
  admitted: us_socket_context_t,
  unauthenticated: us_socket_context_t,
): void {
  const { limits, sockets, responder, onUpgrade } = options;
  const request = new UwsRequest(res, req, limits);
  const decided =
    isUpgrade(request) && (sockets.isStopping ? stopping : decisionOf(options.service, request));
  if (!decided) return responder.receive(res, request);
  // Like every header, they can be read only while the handler runs.
  const key = req.getHeader('sec-websocket-key');
  // The first of those that the client offers, as the package ws does it.
  const protocol = req.getHeader('sec-websocket-protocol').split(',', 1)[0]?.trim() ?? '';
  const extensions = req.getHeader('sec-websocket-extensions');
  /*
   * Never within `res.cork`, though upstream's example does so: when the cork's handler returns, uWebSockets.js 20 takes
   * the WebSocket for the response that it was, where that lies at the same place still, and closes it if what it finds
   * there looks like a response after which the connection is to be closed. One in some hundreds of sockets went that
   * way. Outside of it, and of uWS's handler, uWS warns on stderr that writes should be corked: of the two the lesser
   * evil, and only for those that are decided on later.
   */
  const open = (accept: SocketAcceptor) => {
    request.upgrades();
    const context = accept.isUnauthenticated ? unauthenticated : admitted;
    res.upgrade<SocketData>({ request, accept }, key, protocol, extensions, context);
    onUpgrade();
  };
  if (typeof decided === 'function') return open(decided);
  const decide = async () => {
    const awaited = await Promise.resolve(decided).catch(() => internalError);
    // Never in a microtask: it may run while uWS reads another request, and what is opened then ends that connection,
    // or the process ("Cork buffer must not be held across event loop iterations!", uWebSockets.js 20). A rejection
    // waits, too: it limits a connection to one such request per turn.
    await new Promise(setImmediate);
    const outcome = sockets.isStopping ? stopping : awaited;
    if (typeof outcome !== 'function') responder.respondLater(res, request, outcome);
    else if (!request.isAborted) open(outcome);
  };
  responder.track(res, request, decide());
}

/** What a service decides on a request: 500 where it throws, which it must not. */
function decisionOf(
  { shed, upgrade }: Service,
  request: UwsRequest,
): HttpResponse | ReturnType<NonNullable<Service['upgrade']>> {
  try {
    return shed?.(request) ?? upgrade?.(request);
  } catch {
    return internalError;
  }
}

function behavior(
  { sockets, responder }: WebSocketsOptions,
  maxMessageBytes: number,
  maxPayloadBytes: number,
): Omit<WebSocketBehavior<SocketData>, 'upgrade'> {
  return {
    // How many bytes of a message, finished or not, uWS buffers. A larger one ends the connection where its head says so:
    // then uWebSockets.js 20 sends no close frame.
    maxPayloadLength: maxPayloadBytes,
    // 0 is no limit: with one, uWebSockets.js 20 drops what is sent beyond it and says so only in a return value. The
    // handler bounds what it sends by `bufferedBytes`, and `OpenSockets` all sockets.
    maxBackpressure: 0,
    // uWS pings a quiet client by itself, so this only ends sockets whose client has disappeared.
    idleTimeout: 120,
    sendPingsAutomatically: true,
    // uWS.DISABLED: compression costs memory for each socket, and processor time that any client can request.
    compression: 0,

    open: (ws) => {
      const data = ws.getUserData();
      const socket = new UwsSocket(ws, sockets);
      data.socket = socket;
      try {
        socket.handler = data.accept(socket);
      } catch {
        // It must not throw: from here, that would end the process.
        socket.close(1011);
      }
    },
    message: (ws, message, isBinary) => {
      const { socket } = ws.getUserData();
      if (message.byteLength > maxMessageBytes) {
        socket?.handler?.limited('message-bytes');
        socket?.close(1009, `A message may have ${maxMessageBytes} bytes.`);
      } else {
        // A copy, since uWS detaches the memory when this returns; in Node's pool, which saves a sixth of a call.
        socket?.handler?.message(Buffer.from(new Uint8Array(message)), isBinary);
      }
    },
    ping: (ws) => {
      const { socket } = ws.getUserData();
      if (socket?.countPing()) socket.handler?.pinged();
      // Without a close frame: what the client goes on sending would be read until its connection ends, up to 18 s later.
      else socket?.endFor('pings');
    },
    drain: (ws) => {
      const { socket } = ws.getUserData();
      socket?.recount();
      socket?.handler?.drained();
    },
    close: (ws, code, message) => {
      const { socket, request } = ws.getUserData();
      request.aborted();
      socket?.closed();
      // With another code it is the reason that a client gave.
      if (code === 1006 && Buffer.from(message).toString() === tooBig)
        socket?.handler?.limited('message-bytes');
      responder.count(Promise.resolve(socket?.handler?.closed(code !== 1006)));
    },
  };
}

/**
 * Whether a request asks for a WebSocket (RFC 6455 §4.2.1): uWS only looks for a key. One with `Connection: close` it would
 * open and close in one go, and throw; a body it would take for frames (uWebSockets.js 20).
 */
const isUpgrade = (request: UwsRequest): boolean =>
  request.header('upgrade')?.toLowerCase() === 'websocket' &&
  /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(request.header('connection') ?? '') &&
  !request.isLast &&
  !request.hasBody;
