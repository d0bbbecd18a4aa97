import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest, HttpResponse, us_listen_socket, us_socket_context_t } from 'uWebSockets.js';
import type { GatewayResponse, Service, SocketAcceptor } from '../http.ts';
import { ListenError } from './listenError.ts';
import { loadUws } from './loadUws.ts';
import { UwsRequest } from './request.ts';
import { reservePort } from './reservePort.ts';
import { Responder } from './responder.ts';
import { asksForSocket, socketBehavior, upgradeHeaders, type SocketData, type UwsSocket } from './socket.ts';

export { ListenError } from './listenError.ts';

export interface ServeOptions {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. Default: 0. */
  readonly port?: number;
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
  /**
   * Stops in order: no new connections, `Connection: close` on every answer, streams of events end after an event,
   * WebSockets once their calls are answered; waits for calls in flight until the deadline and for connections kept alive
   * until the grace is over, then closes what is left.
   * @returns how many calls were cut off at the deadline
   */
  close(options?: CloseOptions): Promise<number>;
}

/**
 * Serves a gateway, or anything else that answers requests, on uWebSockets.js.
 * @throws {ListenError} where it cannot listen, or the addon has no binary for this Node
 */
export async function serve(
  { handle, upgrade, maxBodyBytes = 1_048_576, maxMessageBytes = 1_048_576 }: Service,
  { host = '127.0.0.1', port = 0 }: ServeOptions = {},
): Promise<Listening> {
  const uws = await loadUws();
  const reserved = await reservePort(host, port);

  /** Those that are open, or whose calls have not ended. */
  const sockets = new Set<UwsSocket>();
  /** Those that speak HTTP. */
  let connections = 0;
  let isDraining = false;
  /** Looks whether what a stop waits for has come. */
  let onChange = () => {};
  const changed = () => onChange();
  const responder = new Responder(changed);

  function receive(res: HttpResponse, req: HttpRequest): UwsRequest {
    const request = new UwsRequest(res, req, maxBodyBytes);
    // Before anything that may throw: without it, that ends the process (uWebSockets.js 20).
    res.onAborted(() => request.aborted());
    return request;
  }

  function onUpgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
    const request = receive(res, req);
    const decision = !asksForSocket(req) ? undefined : isDraining ? stopping : upgrade?.(request);
    if (decision === undefined) return responder.answer(res, request, handle);
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
      res.upgrade<SocketData>({ request, accept }, key, protocol, extensions, context);
      // The filter does not hear of it.
      connections -= 1;
    };
    if (typeof decision === 'function') return open(decision);
    const decide = async () => {
      const decided = await decision;
      // Never in a microtask: it may run while uWS reads another request, and what is opened then ends that connection,
      // or the process ("Cork buffer must not be held across event loop iterations!", uWebSockets.js 20).
      if (typeof decided === 'function') await new Promise(setImmediate);
      const answer = isDraining ? stopping : decided;
      if (typeof answer !== 'function') await responder.later(res, request, answer);
      else if (!request.isAborted) open(answer);
    };
    return responder.track(res, request, decide());
  }

  const app = uws.App().filter((_res, change) => {
    connections += change;
    changed();
  });
  if (upgrade) app.ws('/*', { ...socketBehavior(maxMessageBytes, sockets, changed), upgrade: onUpgrade });
  app.any('/*', (res, req) => responder.answer(res, receive(res, req), handle));
  const listenSocket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen(host, reserved.port, (opened) => {
      if (opened) resolve(opened);
      else reject(new ListenError('in-use', host, reserved.port));
    });
  }).finally(reserved.release);

  const inFlight = () =>
    [...sockets].reduce((count, { handler }) => count + (handler?.inFlight ?? 0), responder.inFlight.size);

  const until = (check: () => boolean, ms: number) =>
    Promise.race([
      new Promise<void>((resolve) => {
        onChange = () => {
          if (check()) resolve();
        };
        onChange();
      }),
      sleep(ms, undefined, { ref: false }),
    ]);

  async function drain({ deadlineMs = 10_000, graceMs = 1000 }: CloseOptions): Promise<number> {
    isDraining = true;
    uws.us_listen_socket_close(listenSocket);
    responder.drain();
    for (const { handler } of sockets) handler?.drain();
    const begun = performance.now();
    // A connection that is kept alive may have a request on its way: it is answered, and told to close.
    await until(() => connections + sockets.size === 0, Math.min(graceMs, deadlineMs));
    const left = deadlineMs - (performance.now() - begun);
    await until(() => responder.inFlight.size + sockets.size === 0, left);
    const cutOff = inFlight();
    for (const socket of sockets) socket.close(1001, 'The server is stopping.');
    app.close();
    return cutOff;
  }

  let closed: Promise<number> | undefined;
  return {
    host,
    port: uws.us_socket_local_port(listenSocket),
    inFlight,
    // Once: closing a listen socket twice ends the process with a segmentation fault (uWebSockets.js 20).
    close: (options = {}) => (closed ??= drain(options)),
  };
}

/** What a request for a WebSocket is answered on a connection that was there before the server began to stop. */
const stopping: GatewayResponse = {
  status: 503,
  headers: [
    ['content-type', 'application/json'],
    ['retry-after', '1'],
  ],
  body: JSON.stringify({ code: 'SERVICE_UNAVAILABLE', message: 'The server is stopping.', status: 503 }),
};
