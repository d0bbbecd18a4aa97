import type * as Uws from 'uWebSockets.js';
import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_listen_socket,
  us_socket_context_t,
} from 'uWebSockets.js';
import type { Handle, Service } from '../../http/service.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { ListenError } from './listenError.ts';
import { loadUws } from './loadUws.ts';
import { busy, defaultRejection, stopping } from './rejections.ts';
import { UwsRequest } from './request.ts';
import { reservePort } from './reservePort.ts';
import { writeResponse } from './respond.ts';
import { Responder, settled } from './responder.ts';
import {
  asksForSocket,
  socketBehavior,
  upgradeHeaders,
  type SocketData,
  type SocketLimits,
  type UwsSocket,
} from './socket.ts';
import { tlsApps, type TlsApps, type TlsFiles } from './tls.ts';
import { UnsentBytes } from './unsentBytes.ts';

export { ListenError } from './listenError.ts';
export { reservePort, type ReservedPort } from './reservePort.ts';
export { CertificateError, type TlsFiles } from './tls.ts';

export interface ServeOptions {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. Default: 0. */
  readonly port?: number;
  /**
   * Whether other processes that say so too may listen on the same port: the kernel deals the connections out (Linux).
   * Default: false, and a port that somebody has is an error.
   */
  readonly reusePort?: boolean;
  /** Serves over TLS, 1.2 or newer. Default: not. */
  readonly tls?: TlsFiles;
  /**
   * How many connections may be open, WebSockets among them; one that the server closed in order (RFC 6455 §7.1.2) counts
   * for 18 s, as its client may keep it open so long. At most a quarter of them, and 100, are closed so within 18 s; more
   * are ended without a close frame (1006), but for a stop. One connection more than `maxConnections` is answered 503 and
   * closed; over TLS it is only closed. Default: no limit but the system's.
   */
  readonly maxConnections?: number;
  /** How long a request's target may be, in bytes; a longer one is 414. Default: 16384. */
  readonly maxUrlBytes?: number;
  /** How long a request's header lines may be together, in bytes; longer ones are 431. Default: 16384. */
  readonly maxHeaderBytes?: number;
  /**
   * How many bytes of answers may wait for clients to read them, all connections together, streams and WebSockets aside.
   * Beyond it an answer of more than 64 KiB is 503, and a smaller one that its client does not take at once ends the
   * connection. In memory it may be twice as much. Default: 268435456.
   */
  readonly maxUnsentBytes?: number;
  /**
   * How many bytes may wait for the clients of WebSockets to read them, all sockets together. Beyond it those sockets are
   * ended, without a close frame, that have the most unsent, until a quarter is free. In memory it may be twice as much.
   * Default: 25165824.
   */
  readonly maxUnsentSocketBytes?: number;
}

export interface CloseOptions {
  /** How long calls in flight may take. Default: 10 s. */
  readonly deadlineMs?: number;
  /** How long connections that are kept alive may ask once more, to be told `Connection: close`. Default: 1 s. */
  readonly graceMs?: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** How many calls run now: requests that are not answered to their end, streams among them, and calls on WebSockets. */
  inFlight(): number;
  /** How many connections are open now; WebSockets also until their calls have ended. */
  connections(): { readonly http: number; readonly webSockets: number };
  /**
   * Stops in order: no new connections, `Connection: close` on every answer, streams of events end after an event,
   * WebSockets once their calls are answered; waits for calls in flight until the deadline and for connections kept alive
   * until the grace is over, then closes what is left.
   * @returns how many calls were cut off at the deadline
   */
  close(options?: CloseOptions): Promise<number>;
  /**
   * Reads the certificate and its key anew, for those who connect from now on. Without TLS it does nothing.
   * @throws {CertificateError} where they cannot be served: then those that are served stay
   */
  reloadCertificate(): Promise<void>;
}

/**
 * Serves a gateway, or anything else that answers requests, on uWebSockets.js.
 * @throws {ListenError} where it cannot listen, or the addon has no binary for this Node
 * @throws {CertificateError} where the certificate cannot be served
 */
export async function serve(
  {
    handle,
    upgrade,
    shed,
    rejectHttp = defaultRejection,
    maxBodyBytes = 1_048_576,
    maxMessageBytes = 65_536,
    maxUnauthenticatedBytes = 65_536,
  }: Service,
  {
    host = '127.0.0.1',
    port = 0,
    reusePort = false,
    tls,
    maxConnections = Infinity,
    maxUrlBytes = 16_384,
    maxHeaderBytes = 16_384,
    maxUnsentBytes = 268_435_456,
    maxUnsentSocketBytes = 25_165_824,
  }: ServeOptions = {},
): Promise<Listening> {
  const uws = await loadUws();

  /** Those that are open. */
  const sockets = new Set<UwsSocket>();
  /** Those that speak HTTP. */
  let connections = 0;
  let isDraining = false;
  /** Looks whether what a stop waits for has come. */
  let onChange = () => {};
  const changed = () => onChange();
  const responder = new Responder(maxUnsentBytes, changed);
  const unsent = new UnsentBytes(
    sockets,
    maxUnsentSocketBytes,
    Math.min(mostClosing, Math.ceil(maxConnections / 4)),
  );
  const onSocketClosed = (request: UwsRequest, ended: Promise<void>) => responder.count(request, ended);
  const limits = { maxBodyBytes, maxUrlBytes, maxHeaderBytes };

  /** @returns the request; `undefined` where it is refused */
  function receive(res: NativeResponse, req: NativeRequest): UwsRequest | undefined {
    const request = new UwsRequest(res, req, limits);
    const { fault } = request;
    if (fault === undefined) return request;
    responder.answer(res, request, () => rejectHttp(request, fault));
    return undefined;
  }

  const shedOrHandle: Handle = shed ? (request) => shed(request) ?? handle(request) : handle;

  function onRequest(res: NativeResponse, req: NativeRequest): void {
    const request = receive(res, req);
    if (request) responder.receive(res, request, shedOrHandle);
  }

  function onUpgrade(res: NativeResponse, req: NativeRequest, contexts: SocketContexts): void {
    const request = receive(res, req);
    if (request === undefined) return undefined;
    if (!asksForSocket(req)) return responder.receive(res, request, shedOrHandle);
    const decision = isDraining ? stopping : settled(() => shed?.(request) ?? upgrade?.(request));
    if (decision === undefined) return responder.receive(res, request, handle);
    const { key, protocol, extensions } = upgradeHeaders(req);
    /*
     * Never within `res.cork`, though upstream's example does so: when the cork's handler returns, uWebSockets.js 20 takes
     * the WebSocket for the response that it was, where that lies at the same place still, and closes it if what it finds
     * there looks like a response after which the connection is to be closed. One in some hundreds of sockets went that
     * way. Outside of it, and of uWS's handler, uWS warns on stderr that writes should be corked: of the two the lesser
     * evil, and only for those that are decided on later.
     */
    const open = (accept: SocketAcceptor) => {
      request.upgrades();
      const context = accept.isUnauthenticated ? contexts.unauthenticated : contexts.admitted;
      res.upgrade<SocketData>({ request, accept }, key, protocol, extensions, context);
      // The filter does not hear of it.
      connections -= 1;
    };
    if (typeof decision === 'function') return open(decision);
    const decide = async () => {
      const decided = await decision;
      // Never in a microtask: it may run while uWS reads another request, and what is opened then ends that connection,
      // or the process ("Cork buffer must not be held across event loop iterations!", uWebSockets.js 20). A rejection
      // waits, too: it limits a connection to one such request per turn.
      await new Promise(setImmediate);
      const answer = isDraining ? stopping : decided;
      if (typeof answer !== 'function') await responder.later(res, request, answer);
      else if (!request.isAborted) open(answer);
    };
    return responder.track(res, request, decide());
  }

  function onConnection(res: NativeResponse, change: number): void {
    connections += change;
    changed();
    if (change < 0 || connections + sockets.size + unsent.closing <= maxConnections) return;
    // Before the handshake uWS can neither send nor close in order (uWebSockets.js 20).
    if (tls) res.close();
    else res.cork(() => writeResponse(res, busy, false, 'cut'));
  }

  function attach(app: TemplatedApp): void {
    app.filter(onConnection);
    if (upgrade) attachSockets(app);
    app.any('/*', onRequest);
  }

  /**
   * uWebSockets.js 20 has one limit for the messages of a behaviour, and a socket keeps that which it is opened with. So
   * there are two behaviours, both for all paths, which takes two patterns; either opens sockets for both.
   */
  function attachSockets(app: TemplatedApp): void {
    const contexts: Partial<SocketContexts> = {};
    const serveSockets = (pattern: string, name: keyof SocketContexts, socketLimits: SocketLimits) =>
      app.ws<SocketData>(pattern, {
        ...socketBehavior(socketLimits, sockets, unsent, onSocketClosed),
        upgrade(res, req, context) {
          contexts[name] = context;
          const { admitted, unauthenticated } = contexts;
          if (admitted && unauthenticated) onUpgrade(res, req, { admitted, unauthenticated });
          // The first request of all goes through both: an upgrade is the one place where uWS says what a context is.
          else req.setYield(true);
        },
      });
    serveSockets('/*', 'admitted', {
      maxMessageBytes,
      maxPayloadBytes: Math.max(maxMessageBytes, toleratedBytes),
    });
    serveSockets('/*unauthenticated', 'unauthenticated', {
      maxMessageBytes: Math.min(maxMessageBytes, maxUnauthenticatedBytes),
      maxPayloadBytes: maxUnauthenticatedBytes,
    });
  }

  const { listener, serving, reload } = tls ? await tlsApps(uws, tls, attach) : plainApp(uws, attach);
  const reserved = await reservePort(host, port, reusePort);
  const listenSocket = await new Promise<us_listen_socket>((resolve, reject) => {
    listener.listen(host, reserved.port, (opened) => {
      if (opened) resolve(opened);
      else reject(new ListenError('in-use', host, reserved.port));
    });
  }).finally(reserved.release);

  const inFlight = () =>
    [...sockets].reduce((count, { handler }) => count + (handler?.inFlight ?? 0), responder.inFlight);

  const until = (check: () => boolean, ms: number) =>
    new Promise<void>((resolve) => {
      // Not `unref`: nothing else may keep the process, and whoever waits for the stop has more to do after it.
      const timer = setTimeout(resolve, ms);
      onChange = () => {
        if (!check()) return;
        clearTimeout(timer);
        resolve();
      };
      onChange();
    });

  async function drain({ deadlineMs = 10_000, graceMs = 1000 }: CloseOptions): Promise<number> {
    isDraining = true;
    unsent.isStopping = true;
    uws.us_listen_socket_close(listenSocket);
    responder.drain();
    for (const { handler } of sockets) handler?.drain();
    const begun = performance.now();
    // A connection that is kept alive may have a request on its way: it is answered, and told to close.
    await until(() => connections + sockets.size === 0, Math.min(graceMs, deadlineMs));
    const left = () => deadlineMs - (performance.now() - begun);
    const isQuiet = () => responder.inFlight + sockets.size === 0;
    do {
      await until(isQuiet, left());
      // Right behind the turn in which the event loop reads: what came in before it closes is served, not reset.
      await new Promise(setImmediate);
    } while (!isQuiet() && left() > 0);
    const cutOff = inFlight();
    for (const socket of sockets) socket.close(1001, 'The server is stopping.');
    listener.close();
    for (const app of serving) app.close();
    return cutOff;
  }

  let closed: Promise<number> | undefined;
  return {
    host,
    port: uws.us_socket_local_port(listenSocket),
    inFlight,
    connections: () => ({ http: connections, webSockets: sockets.size }),
    // Once: closing a listen socket twice ends the process with a segmentation fault (uWebSockets.js 20).
    close: (options = {}) => (closed ??= drain(options)),
    reloadCertificate: reload,
  };
}

/** How many WebSockets may be closed in order within 18 s: each may keep its descriptor, and an unfinished message, so long. */
const mostClosing = 100;

/** Where a smaller limit is set, messages up to so many bytes are taken to be refused with 1009. */
const toleratedBytes = 65_536;

/** What a WebSocket is opened in: that of the behaviour whose limits it is to have. */
interface SocketContexts {
  admitted: us_socket_context_t;
  unauthenticated: us_socket_context_t;
}

/** The counterpart of `tlsApps`: one app listens and serves. */
function plainApp(uws: typeof Uws, attach: (app: TemplatedApp) => void): TlsApps {
  const app = uws.App();
  attach(app);
  return { listener: app, serving: new Set([app]), reload: async () => {} };
}
