// Hot path: one object per request.
import type { Bytes } from '../../http/bytes.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';
import { BodyBuffer, maxDiscardedBytes, type BodySource, type PushChunk } from './bodyBuffer.ts';
import type { RequestHead, RequestLimits } from './requestHead.ts';

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
  /**
   * Whether the connection must not serve another request: the client requests it, or the end of this request is
   * uncertain.
   */
  abstract readonly isLast: boolean;
  /** Whether the client has disconnected. Nothing can be written then. */
  isAborted = false;
  /** Whether nothing must be written any more, because the response has ended or the client has disconnected. */
  hasEnded = false;

  protected address: string | undefined;
  #names: readonly string[];
  #values: readonly string[];
  #count: number;
  #isKept = false;
  /** Length of the body in bytes: 0 without a body, NaN for a chunked body. */
  readonly #bodyLength: number;
  readonly #limits: RequestLimits;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  #onBody: (() => void) | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;

  /** @param head contains the headers of this request */
  constructor(method: string, path: string, query: string, head: RequestHead, limits: RequestLimits) {
    this.method = method;
    this.path = path;
    this.query = query;
    this.#limits = limits;
    this.#names = head.names;
    this.#values = head.values;
    this.#count = head.count;
    this.rejection = head.rejection(method, path, query, limits);
    this.#bodyLength = this.rejection === undefined ? head.bodyLength : 0;
  }

  header(name: string): string | undefined {
    // An empty header counts as missing.
    for (let at = 0; at < this.#count; at += 1) {
      if (this.#names[at] === name) return this.#values[at] || undefined;
    }
    return undefined;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#names.slice(0, this.#count).map((name, at) => [name, this.#values[at] ?? '']);
  }

  someHeader(test: (name: string, value: string) => boolean): boolean {
    for (let at = 0; at < this.#count; at += 1) {
      if (test(this.#names[at] ?? '', this.#values[at] ?? '')) return true;
    }
    return false;
  }

  isRepeated(name: string): boolean {
    let isFound = false;
    for (let at = 0; at < this.#count; at += 1) {
      if (this.#names[at] !== name) continue;
      if (isFound) return true;
      isFound = true;
    }
    return false;
  }

  remoteAddress(): string {
    if (this.address !== undefined) return this.address;
    return this.hasEnded ? '' : this.readAddress();
  }

  body(maxBytes: number): Promise<Bytes> {
    return this.#receiveBody().read(Math.min(maxBytes, this.#limits.maxBodyBytes));
  }

  bodyNow(maxBytes: number): Bytes | undefined {
    return this.#body?.takeWhole(Math.min(maxBytes, this.#limits.maxBodyBytes));
  }

  bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#receiveBody().chunks(maxBytes);
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
    if (this.#bodyLength === 0 || this.isLast) return false;
    // Written so that NaN, an unknown length, returns false.
    if (!(this.#bodyLength <= Math.min(smallBodyBytes, this.#limits.maxBodyBytes))) return false;
    // With `Expect`, the client waits for a response before it sends the body (RFC 9110 §10.1.1).
    return this.header('expect') === undefined;
  }

  get hasBody(): boolean {
    return this.#bodyLength !== 0;
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
    if (this.#bodyLength !== 0) this.#receiveBody();
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
    this.#callOnBody();
  }

  /** Whether the rest of the body is longer than the server reads after a response, or of unknown length. */
  get exceedsDiscardLimit(): boolean {
    return this.#body?.exceedsDiscardLimit ?? !(this.#bodyLength <= maxDiscardedBytes);
  }

  /** Waits until the body has ended or no more of it is received, at most for `ms`. */
  async whenBodyEnded(ms: number): Promise<void> {
    if (Number.isNaN(this.#bodyLength) || !this.exceedsDiscardLimit) await this.#body?.whenEnded(ms);
  }

  abstract controlBody(action: 'pause' | 'resume' | 'close'): void;

  /** Returns the address of the client. Not called after the request has ended. */
  protected abstract readAddress(): string;

  /** Makes sure that `onDisconnect` is called when the client disconnects. Called once. */
  protected abstract watchConnection(): void;

  /** Starts passing the chunks of the body to `BodyBuffer.push`. Called once, for a request with a body. */
  protected abstract receive(push: PushChunk): void;

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const body = new BodyBuffer(this.#bodyLength, this.#limits.maxStreamBytes, this);
    this.#body = body;
    if (this.isAborted) body.abort(disconnectError());
    else if (this.hasEnded) body.abort(new Error('The response was sent before the request body was read.'));
    else if (this.#bodyLength === 0) body.push(new Uint8Array(0), true);
    else {
      this.receive((chunk, isLast, isOwn) => {
        body.push(chunk, isLast, isOwn);
        if (isLast) this.#callOnBody();
      });
    }
    return body;
  }

  #callOnBody(): void {
    const next = this.#onBody;
    this.#onBody = undefined;
    next?.();
  }
}
