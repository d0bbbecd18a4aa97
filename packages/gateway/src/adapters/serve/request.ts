// Hot path: one object per request.
import type { HttpRequest, Bytes } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';
import { BodyBuffer, maxDiscardedBytes, type BodySource } from './bodyBuffer.ts';
import type { RequestHead } from './requestHead.ts';

/** Limits of requests, in bytes. */
export interface RequestLimits {
  readonly maxHeaderSize: number;
  /** Maximum size of a body that is read into memory. */
  readonly maxBodySize: number;
  /** Maximum size of a body that is read in chunks. */
  readonly maxStreamSize: number;
  /** Whether the server uses TLS, for adapters whose requests do not know it. */
  readonly isTls?: boolean;
}

/** Creates the abort reason of `signal`, which is also the error of a body that is being read. */
const disconnectError = () => new DOMException('The client disconnected.', 'AbortError');

/** Maximum size of a body that is received before the request is handled. */
const smallBodyBytes = 16_384;

const noStrings: readonly string[] = [];

/**
 * A request that an adapter reads from a connection. Its headers are in an object that all requests of the adapter
 * share: call `keep` before the next request is read, unless the response has been written.
 */
export abstract class ServerRequest implements HttpRequest, BodySource {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Why the request is malformed; `undefined` if it is valid. */
  readonly rejection: HttpRejection | undefined;
  /** Length of the body in bytes: 0 without a body and if the request is malformed, NaN for a chunked body. */
  readonly bodyLength: number;
  /**
   * Whether the request is a valid WebSocket upgrade (RFC 6455 §4.2.1). uWS checks only that it has a key. With
   * `Connection: close`, uWS would open and close the socket at once, and throw; a body would be parsed as frames
   * (uWebSockets.js 20).
   */
  readonly isUpgrade: boolean;
  /**
   * Whether the connection must not serve another request: the client requests it, or the end of this request is
   * uncertain.
   */
  abstract readonly isLast: boolean;
  /** Whether the client has disconnected. Nothing can be written then. */
  isAborted = false;
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  awaitsContinue = false;
  /** Whether nothing must be written any more, because the response has ended or the client has disconnected. */
  hasEnded = false;
  /** Whether `bodyNow` has returned the whole body, so that none of it is left to discard. */
  isBodyTaken = false;

  protected address: string | undefined;
  #names: readonly string[];
  #values: readonly string[];
  #count: number;
  #isKept = false;
  readonly #hasExpectation: boolean;
  readonly #limits: RequestLimits;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  #onBody: (() => void) | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;

  /** @param head contains the headers of this request */
  // Five parameters: the first three as an object would be another object per request.
  constructor(method: string, path: string, query: string, head: RequestHead, limits: RequestLimits) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.#limits = limits;
    this.#names = head.names;
    this.#values = head.values;
    this.#count = head.count;
    this.#hasExpectation = head.awaitsContinue;
    this.rejection = head.rejection(method, path, query, limits.maxHeaderSize);
    this.bodyLength = this.rejection === undefined ? (head.bodyLength ?? 0) : 0;
    this.isUpgrade =
      head.isUpgrade &&
      method === 'GET' &&
      this.rejection === undefined &&
      !head.isHostOptional &&
      !head.isLast &&
      this.bodyLength === 0 &&
      this.#values[this.#names.slice(0, this.#count).indexOf('upgrade')]?.toLowerCase() === 'websocket';
  }

  header(name: string): string | undefined {
    // An empty header counts as missing.
    for (let at = 0; at < this.#count; at += 1)
      if (this.#names[at] === name) return this.#values[at] || undefined;
    return undefined;
  }

  hasHeader(name: string): boolean {
    for (let at = 0; at < this.#count; at += 1) if (this.#names[at] === name) return true;
    return false;
  }

  isRepeated(name: string): boolean {
    let count = 0;
    for (let at = 0; at < this.#count; at += 1) if (this.#names[at] === name) count += 1;
    return count > 1;
  }

  headers(): Iterable<[name: string, value: string]> {
    return this.#names.slice(0, this.#count).map((name, at) => [name, this.#values[at] ?? '']);
  }

  remoteAddress(): string {
    if (this.address !== undefined) return this.address;
    return this.hasEnded ? '' : this.readAddress();
  }

  body(maxBytes: number): Promise<Bytes> {
    return this.#receiveBody().read(Math.min(maxBytes, this.#limits.maxBodySize));
  }

  bodyNow(maxBytes: number): Bytes | undefined {
    const bytes = this.#body?.takeWhole(Math.min(maxBytes, this.#limits.maxBodySize));
    if (bytes) this.isBodyTaken = true;
    return bytes;
  }

  bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#receiveBody().chunks(maxBytes);
  }

  /** Whether a response before the one to this request is not sent yet, on adapters that let pipelined requests wait. */
  get isBehind(): boolean {
    return false;
  }

  get scheme(): 'http' | 'https' {
    return this.#limits.isTls === true ? 'https' : 'http';
  }

  get httpVersion(): string {
    return '1.1';
  }

  get receivedBytes(): number {
    return this.#body?.size ?? 0;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isAborted && !this.#abort.signal.aborted) this.#abort.abort(disconnectError());
    return this.#abort.signal;
  }

  whenAborted(listener: (reason: unknown) => void): void {
    (this.#listeners ??= []).push(listener);
  }

  /**
   * Whether the request has a small body of known length. It is received before the request is handled: most arrive in
   * the same packet, and a handler that does not need to wait takes a third less time.
   */
  get hasSmallBody(): boolean {
    if (this.bodyLength === 0 || this.isLast) return false;
    // Written so that NaN, an unknown length, returns false.
    if (!(this.bodyLength <= Math.min(smallBodyBytes, this.#limits.maxBodySize))) return false;
    // With `Expect`, the client waits for a response before it sends the body (RFC 9110 §10.1.1).
    return !this.#hasExpectation;
  }

  /** Calls `next` synchronously from the parser when the body is complete, or when the client has disconnected. */
  whenBodyReceived(next: () => void): void {
    this.#onBody = next;
    this.keep();
  }

  /**
   * Copies the headers and attaches listeners, so that the request outlives its handler. A response that is written
   * within the handler does not need this.
   */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    this.watchConnection();
    this.#names = this.#names.slice(0, this.#count);
    this.#values = this.#values.slice(0, this.#count);
    // The body must be received from now on: earlier chunks would be lost.
    if (this.bodyLength !== 0) this.#receiveBody();
  }

  /** Drops the rest of the body, which will not be read. */
  discardBody(): void {
    this.#body?.discard();
  }

  /** Called when the response has ended. */
  onResponseEnd(): void {
    this.hasEnded = true;
    if (this.#isKept) return;
    this.#names = noStrings;
    this.#values = noStrings;
    this.#count = 0;
  }

  /** Called when the request is about to become a WebSocket: it stays readable and can have no response. */
  onUpgrade(): void {
    this.keep();
    this.address = this.remoteAddress();
    this.onResponseEnd();
  }

  /** Called when the client has disconnected, or the WebSocket that this request became has closed. */
  onDisconnect(): void {
    this.isAborted = true;
    this.hasEnded = true;
    const reason = disconnectError();
    this.#body?.abort(reason);
    this.#abort?.abort(reason);
    for (const listener of this.#listeners ?? []) listener(reason);
    this.onBodyEnd();
  }

  onBodyEnd(): void {
    const next = this.#onBody;
    this.#onBody = undefined;
    next?.();
  }

  /** Whether the rest of the body is longer than the server reads after a response, or of unknown length. */
  get exceedsDiscardLimit(): boolean {
    return this.#body?.exceedsDiscardLimit ?? !(this.bodyLength <= maxDiscardedBytes);
  }

  /** Waits until the body has ended or no more of it is received, at most for `ms`. */
  async whenBodyEnded(ms: number): Promise<void> {
    if (Number.isNaN(this.bodyLength) || !this.exceedsDiscardLimit) await this.#body?.whenEnded(ms);
  }

  abstract controlBody(action: 'pause' | 'resume' | 'close'): void;

  /** Returns the address of the client. Not called after the request has ended. */
  protected abstract readAddress(): string;

  /** Makes sure that `onDisconnect` is called when the client disconnects. Called once. */
  protected abstract watchConnection(): void;

  /** Starts pushing the chunks of the body into the buffer. Called once, for a request with a body. */
  protected abstract receive(body: BodyBuffer): void;

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const body = new BodyBuffer(this.bodyLength, this.#limits.maxStreamSize, this);
    this.#body = body;
    if (this.isAborted) body.abort(disconnectError());
    else if (this.hasEnded) body.abort(new Error('The response was sent before the request body was read.'));
    else if (this.bodyLength === 0) body.push(new Uint8Array(0), true);
    else this.receive(body);
    return body;
  }
}
