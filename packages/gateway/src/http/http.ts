/**
 * The boundary between a host (`uws/`) and the wires (`rest/`, `rpc/`): all that they share.
 * A host makes a `HttpRequest`, calls `handle`, and writes the `HttpResponse`. Nothing of the host's own types
 * crosses, so an in-process client, or another host, calls the same `handle`.
 */

import { isAsyncIterable } from './isAsyncIterable.ts';

/** One HTTP request, as a host hands it over. */
export interface HttpRequest {
  /** As received: methods are case-sensitive (RFC 9110 §9.1). */
  readonly method: string;
  /** The target's path as received: not decoded, without the query. */
  readonly path: string;
  /** The target's query as received, without `?`; `''` where there is none. */
  readonly query: string;
  /**
   * A header's value, or `undefined` where the request has none. Reading one by name is cheap as long as the host's
   * handler runs; later the host answers from a copy.
   * @param name in lower case
   */
  header(name: string): string | undefined;
  /** Every header with its name in lower case, in the order received. Costs a copy: read by name where you can. */
  headers(): Iterable<readonly [name: string, value: string]>;
  /** Whether one of the headers passes a test, those of one name each for itself. Costs no copy. */
  someHeader?(test: (name: string, value: string) => boolean): boolean;
  /** The peer's address in text form; `''` once the client is gone. Ask before the answer is given. */
  remoteAddress(): string;
  /**
   * Reads the whole body; an empty one where the request has none. Call it once.
   * @param maxBytes the largest body that is taken, in bytes
   * @throws {BodyTooLargeError} as soon as the body is known to be larger: what follows is not kept
   * @throws the signal's reason, when the client goes away first
   */
  body(maxBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * The whole body, where all of it has come already and nobody has read it: it need not be waited for then. `undefined`
   * otherwise, and where it is larger than `maxBytes`: `body` says so.
   */
  bodyNow?(maxBytes: number): Uint8Array<ArrayBuffer> | undefined;
  /**
   * Gives the body as it comes, for who does not need it whole. The host takes more from the client only when what it
   * gave has been read. Call this or `body`, once.
   * @param maxBytes and what its iteration throws: as for `body`
   */
  bodyChunks(maxBytes: number): AsyncIterable<Uint8Array<ArrayBuffer>>;
  /** When it was first asked for this, by `performance.now()`: about when the host handed it over. */
  readonly seenAt?: number;
  /** Whether the client went away. Cheaper to ask than `signal`. */
  readonly isAborted: boolean;
  /** How many bytes of the body have come by now; `undefined` from a host that does not count them. */
  readonly receivedBytes?: number | undefined;
  /** Aborts when the client goes away. It is made when it is first read. */
  readonly signal: AbortSignal;
  /** Calls a listener when the client goes away, later than now: a fifth of what listening to `signal` costs. */
  whenAborted?(listener: (reason: unknown) => void): void;
}

/**
 * A body that is made as it is sent: the host pulls the next chunk only when the socket has taken the last. When the
 * client goes away the host calls the iterator's `return`, even while a `next` is pending.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /**
   * Ends a body that has no end of its own, events that is, after the event that is being sent. A host calls it when it
   * stops. A body without it is waited for.
   */
  end?(): void;
}

export const isBodyStream = (body: unknown): body is BodyStream => isAsyncIterable(body);

/** Tells the producer of a stream that nobody will take any of it. How it ends, or fails, is its own concern. */
export async function discardStream(body: BodyStream): Promise<void> {
  try {
    await body[Symbol.asyncIterator]().return?.();
  } catch {
    // It has told its own log.
  }
}

/** Whether one of a request's headers passes a test. */
export function someHeader(request: HttpRequest, test: (name: string, value: string) => boolean): boolean {
  if (request.someHeader) return request.someHeader(test);
  for (const [name, value] of request.headers()) if (test(name, value)) return true;
  return false;
}

/** Its name and its value. */
export type Header = readonly [name: string, value: string];

/** One HTTP response. The host adds `Content-Length` and, for HEAD, leaves the body out. */
export interface HttpResponse {
  /** 200 to 999: a host answers 500 in place of others, as of whatever cannot be written. */
  readonly status: number;
  /**
   * Names in any case, values without CR, LF or NUL; a host refuses to write others, and those that frame the message.
   */
  readonly headers: readonly Header[];
  /** Further ones, as one array that many responses share and nobody changes: a host may keep what it makes of it. */
  readonly sharedHeaders?: readonly Header[];
  readonly body?: string | Uint8Array | BodyStream | undefined;
}

/** All headers of a response, the shared ones first. */
export const headersOf = ({ sharedHeaders = [], headers }: HttpResponse): readonly Header[] => [
  ...sharedHeaders,
  ...headers,
];

/** Answers one request. It never throws and never rejects: whatever goes wrong is a response too. */
export type Handle = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** A WebSocket that is open, as a host hands it over. After `close` or `terminate`, and once it is closed, it takes nothing. */
export interface WebSocketPeer {
  /** How many bytes were given to `send` that the network has not taken yet. */
  readonly bufferedBytes: number;
  /** Sends a text as a text frame, bytes as a binary one. What the network does not take is kept: mind `bufferedBytes`. */
  send(message: string | Uint8Array): void;
  /**
   * Closes in order, behind what was sent (RFC 6455 §7.1.2).
   * @param code without one, the close frame is empty
   */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
}

/** What a host ends a WebSocket for: too large a message, too many pings, too much that its client does not read. */
export type SocketLimit = 'message-bytes' | 'pings' | 'unsent-bytes';

/** What a host tells the owner of a WebSocket. None of it throws. */
export interface SocketHandler {
  /** @param data its owner's to keep */
  message(data: Buffer, isBinary: boolean): void;
  /** The client pinged, and the host has answered: mind `bufferedBytes`. */
  pinged(): void;
  /** The network has taken some of what was buffered. */
  drained(): void;
  /** The host is about to end the socket, or has ended it: the client went beyond one of its limits. */
  limited(limit: SocketLimit): void;
  /**
   * It is closed: the last call.
   * @param isInOrder by a close frame: then the client may keep the connection open for up to 18 s
   * @returns when the calls that it began have ended, subscriptions aside: those are told, and may take their time
   */
  closed(isInOrder?: boolean): Promise<void>;
  /** The server stops: the owner closes the socket once it has answered what it was asked. */
  drain(): void;
  /** How many calls it runs now. */
  readonly inFlight: number;
}

/** Takes a WebSocket over as soon as it is open. */
export interface SocketAcceptor {
  (socket: WebSocketPeer): SocketHandler;
  /** Whether the client is not known yet: then the host takes no message of more than `maxUnauthenticatedBytes`. */
  readonly isUnauthenticated?: boolean;
}

/**
 * Decides on a request to open a WebSocket (RFC 6455 §4.2): it is let in, or answered otherwise. `undefined`, at once:
 * there is none at this path, and the request is one like any other. It never throws and never rejects.
 */
export type Upgrade = (
  request: HttpRequest,
) => SocketAcceptor | HttpResponse | Promise<SocketAcceptor | HttpResponse> | undefined;

/**
 * Answers a request at once that has waited too long in a socket; `undefined` where it is to be served. A host asks it
 * first of all, with the request it reads; who calls `handle` without a socket has nothing that waits. It never throws.
 */
export type Shed = (request: HttpRequest) => HttpResponse | undefined;

/** What a host refuses by itself, before the service sees the request. */
export interface Refusal {
  readonly status: number;
  /** `BAD_REQUEST`, `URI_TOO_LONG`, `EXPECTATION_FAILED`, `REQUEST_HEADER_FIELDS_TOO_LARGE` … */
  readonly code: string;
  /** A sentence that names what is wrong. */
  readonly message: string;
}

/**
 * Words a host's refusal, and hears of it: for logs, metrics and a body of the service's own. The request is malformed:
 * nothing in it is to be trusted, and its body is not to be read. The host closes the connection afterwards.
 * It never throws.
 */
export type Refuse = (request: HttpRequest, refusal: Refusal) => HttpResponse;

/** What a host serves: a `Gateway`, or anything that answers requests. */
export interface Service {
  readonly handle: Handle;
  readonly upgrade?: Upgrade;
  readonly shed?: Shed;
  /** The largest body that is taken, in bytes, whatever its reader would allow. Default: 1048576. */
  readonly maxBodyBytes?: number;
  /** The largest WebSocket message that is taken, in bytes. Default: 65536. */
  readonly maxMessageBytes?: number;
  /**
   * How many bytes of a message, whole or not, a WebSocket may send whose acceptor is `isUnauthenticated`, for as long as
   * it is open. Default: 65536.
   */
  readonly maxUnauthenticatedBytes?: number;
}

/** A service that words what its host refuses. */
export interface Refuser {
  /** Default: `{ code, message, status }` as JSON, with an `X-Request-Id`. */
  readonly refuse?: Refuse;
}

/** What `HttpRequest.body` throws when the body is larger than it may be. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
    this.maxBytes = maxBytes;
  }
}

/** A token, as methods and header names are (RFC 9110 §5.6.2). */
export const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex -- these are the bytes that a header must not have
const unsafe = /[\0\r\n]/;
/** What frames a message is the host's to write. */
const framing = /^(?:connection|content-length|transfer-encoding)$/i;

/** Names that were found good, each with a value that was too: most headers of most answers are the same. */
const good = new Map<string, string>();
/** The last value that its maker vouched for. */
let vouched = '';

/** Says of a header's value that is about to be written that it may be: to look through it costs more than to make it. */
export function vouch(value: string): string {
  vouched = value;
  return value;
}

/**
 * Whether a header may be written. uWebSockets.js writes what it is given: a CR or LF in a value would start another
 * header, or another response, of its sender's choice; and it throws at what is no string.
 */
export function isWritableHeader(header: Header): boolean {
  // Not by a pattern in the parameter: that iterates.
  const name = header[0];
  const value = header[1];
  const known = good.get(name);
  if (known !== undefined && (value === vouched || value === known)) return true;
  if (typeof value !== 'string' || unsafe.test(value)) return false;
  if (known !== undefined) return true;
  if (typeof name !== 'string' || !token.test(name) || framing.test(name)) return false;
  // A service has few; who makes names up as it goes is not to fill the memory.
  if (good.size < 256) good.set(name, value);
  return true;
}
