import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { type GatewayResponse, type Handle, isWritableHeader } from '../http.ts';
import { ListenError } from './listenError.ts';
import { loadUws } from './loadUws.ts';
import { UwsRequest } from './request.ts';
import { isLarge, isStream, sendLarge, streamResponse, writeResponse, type Ending } from './respond.ts';

export { ListenError } from './listenError.ts';

export interface ServeOptions {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. Default: 0. */
  readonly port?: number;
}

/** What is served: a `Gateway`, or any other `Handle`. */
export interface Served {
  readonly handle: Handle;
  /** The largest body that is taken, in bytes, whatever its reader would allow. Default: 1048576. */
  readonly maxBodyBytes?: number;
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
  /**
   * Stops in order: no new connections, `Connection: close` on every answer, waits for calls in flight until the
   * deadline and for connections kept alive until the grace is over, then closes what is left.
   * @returns how many calls were cut off at the deadline
   */
  close(options?: CloseOptions): Promise<number>;
}

/**
 * Serves a gateway on uWebSockets.js.
 * @throws {ListenError} where it cannot listen, or the addon has no binary for this Node
 */
export async function serve(
  { handle, maxBodyBytes = 1_048_576 }: Served,
  { host = '127.0.0.1', port = 0 }: ServeOptions = {},
): Promise<Listening> {
  const uws = await loadUws();
  await checkAddress(host, port);

  const inFlight = new Set<UwsRequest>();
  let connections = 0;
  let isDraining = false;
  /** Looks whether what a stop waits for has come. */
  let onChange = () => {};

  function onRequest(res: HttpResponse, req: HttpRequest): void {
    const request = new UwsRequest(res, req, maxBodyBytes);
    // Before anything that may throw: without it, that ends the process (uWebSockets.js 20).
    res.onAborted(() => request.aborted());
    const response = answer(handle, request);
    if (
      response instanceof Promise ||
      isStream(response.body) ||
      isLarge(response.body) ||
      request.isChunked
    ) {
      request.keep();
      inFlight.add(request);
      void respondLater(res, request, response)
        // Whatever could not be written is no answer: its client is not left waiting.
        .catch(() => {
          if (!request.isAborted) res.close();
        })
        .finally(() => {
          inFlight.delete(request);
          onChange();
        });
    } else {
      request.release();
      writeResponse(res, response, request.method === 'HEAD', ending(request));
    }
  }

  async function respondLater(
    res: HttpResponse,
    request: UwsRequest,
    pending: GatewayResponse | Promise<GatewayResponse>,
  ): Promise<void> {
    const response = await pending;
    request.answered();
    if (request.isChunked) {
      // The connection ends with the answer. If its client were still sending, it would see a reset, and no answer.
      await Promise.race([request.bodyEnded(), sleep(lingerMs, undefined, { ref: false })]);
      // Never in the parser's own tick: bytes that arrived with a chunked request would be run as the next one.
      await new Promise(setImmediate);
    }
    const { body } = response;
    const isHead = request.method === 'HEAD';
    if (request.isAborted || (isHead && isStream(body))) await stop(body);
    if (request.isAborted) return;
    if (isStream(body) && !isHead) await streamResponse(res, request, response, body, ending(request));
    else if (isLarge(body) && !isHead && !request.isChunked) {
      await sendLarge(res, request, response, body, ending(request));
    } else res.cork(() => writeResponse(res, response, isHead, ending(request)));
  }

  // The trailers of a chunked body are taken for the next request (uWebSockets.js 20): the connection ends with it.
  const ending = (request: UwsRequest): Ending => (request.isChunked ? 'cut' : isDraining ? 'close' : 'keep');

  const app = uws
    .App()
    .filter((_res, change) => {
      connections += change;
      onChange();
    })
    .any('/*', onRequest);
  const socket = await new Promise<us_listen_socket>((resolve, reject) => {
    app.listen(host, port, (listenSocket) => {
      if (listenSocket) resolve(listenSocket);
      else reject(new ListenError('in-use', host, port));
    });
  });

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
    uws.us_listen_socket_close(socket);
    const begun = performance.now();
    // A connection that is kept alive may have a request on its way: it is answered, and told to close.
    await until(() => connections === 0, Math.min(graceMs, deadlineMs));
    await until(() => inFlight.size === 0, deadlineMs - (performance.now() - begun));
    const cutOff = inFlight.size;
    app.close();
    return cutOff;
  }

  let closed: Promise<number> | undefined;
  return {
    host,
    port: uws.us_socket_local_port(socket),
    // Once: closing a listen socket twice ends the process with a segmentation fault (uWebSockets.js 20).
    close: (options = {}) => (closed ??= drain(options)),
  };
}

/** Tells the producer of a stream that nobody wants it. */
async function stop(body: GatewayResponse['body']): Promise<void> {
  if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
}

/** How long the end of a chunked body is waited for once its answer is there. */
const lingerMs = 2000;

/** What is answered where a response cannot be written, or a handler breaks its promise never to throw. */
const broken: GatewayResponse = {
  status: 500,
  headers: [['content-type', 'application/json']],
  body: JSON.stringify({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 }),
};

function answer(handle: Handle, request: UwsRequest): GatewayResponse | Promise<GatewayResponse> {
  try {
    const response = handle(request);
    return response instanceof Promise ? response.then(writable, () => broken) : writable(response);
  } catch {
    return broken;
  }
}

const writable = (response: GatewayResponse) =>
  response.headers.every(isWritableHeader) && isBody(response.body) ? response : broken;

const isBody = (body: unknown) =>
  body === undefined ||
  typeof body === 'string' ||
  body instanceof Uint8Array ||
  (typeof body === 'object' && body !== null && Symbol.asyncIterator in body);

/**
 * Asks Node whether the address can be listened on: uWS only says that it cannot, and with SO_REUSEPORT, its default on
 * Linux, a port that another server of uWS has is no obstacle to it.
 */
async function checkAddress(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(ListenError.from(error, host, port)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}
