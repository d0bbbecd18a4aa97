// Hot path: every request is one of these.
import type { HttpRequest } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';
import { BodyBuffer, maxDiscardedBytes, type BodySource, type Bytes, type PushChunk } from './bodyBuffer.ts';
import type { RequestHead, RequestLimits } from './requestHead.ts';

/** The reason of `signal`, and the error of a body that is being read. */
const clientDisconnected = () => new DOMException('The client went away.', 'AbortError');

/** Bodies up to this size, in bytes, are received before the request is handled. */
const smallBodyBytes = 16_384;

const none: readonly string[] = [];

/**
 * A request that an adapter reads from a connection of its own. Its head is read from an object that all requests share:
 * call `keep` before another request is read, unless the response is written by then.
 */
export abstract class ServerRequest implements HttpRequest, BodySource {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Why the request is malformed; `undefined` where it can be handled. */
  readonly rejection: HttpRejection | undefined;
  /** Whether its connection must not serve another request: the client says so, or the request's end is uncertain. */
  abstract readonly isLast: boolean;
  /** Whether the client has disconnected. Then nothing can be written any more. */
  isAborted = false;
  /** Whether nothing must be written any more: the response has ended, or the client has disconnected. */
  hasEnded = false;

  protected address: string | undefined;
  #names: readonly string[];
  #values: readonly string[];
  #count: number;
  #isKept = false;
  /** The body's length in bytes: 0 without a body, NaN for a chunked one. */
  readonly #bodyLength: number;
  readonly #limits: RequestLimits;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  #onBody: (() => void) | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;

  /** @param head with the headers of this request */
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
    // An empty header counts as none.
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
    if (this.isAborted && !this.#abort.signal.aborted) this.#abort.abort(clientDisconnected());
    return this.#abort.signal;
  }

  whenAborted(listener: (reason: unknown) => void): void {
    (this.#listeners ??= []).push(listener);
  }

  /**
   * Whether a small body of known length comes. It is received before the request is handled: most are in the same packet,
   * and a handler that does not wait for it takes a third less time.
   */
  get hasSmallBody(): boolean {
    if (this.#bodyLength === 0 || this.isLast) return false;
    // Not so where the length is not known.
    if (!(this.#bodyLength <= Math.min(smallBodyBytes, this.#limits.maxBodyBytes))) return false;
    // With one, the client waits for a response before it sends the body (RFC 9110 §10.1.1).
    return this.header('expect') === undefined;
  }

  get hasBody(): boolean {
    return this.#bodyLength !== 0;
  }

  /** Calls `next` within the parser's turn, when the small body is complete or the client has disconnected. */
  whenBodyReceived(next: () => void): void {
    this.#onBody = next;
    this.keep();
  }

  /** Makes the request outlive its handler. A response that is written in the handler saves the listeners and the copies. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    this.watchConnection();
    this.#names = this.#names.slice(0, this.#count);
    this.#values = this.#values.slice(0, this.#count);
    // What arrives before the body is received is lost.
    if (this.#bodyLength !== 0) this.#receiveBody();
  }

  /** Drops the rest of the body, which nothing will read. */
  discardBody(): void {
    this.#body?.discard();
  }

  /** The response has ended. */
  ended(): void {
    this.hasEnded = true;
    if (this.#isKept) return;
    this.#names = none;
    this.#values = none;
    this.#count = 0;
  }

  /** The request is about to become a WebSocket: it stays readable, and can have no response. */
  upgrades(): void {
    this.keep();
    this.address = this.remoteAddress();
    this.ended();
  }

  /** The client has disconnected, or the WebSocket has closed that this request became. */
  aborted(): void {
    this.isAborted = true;
    this.hasEnded = true;
    const reason = clientDisconnected();
    this.#body?.fail(reason);
    this.#abort?.abort(reason);
    for (const listener of this.#listeners ?? []) listener(reason);
    this.#continue();
  }

  /** Whether more of the body is left than is received after a response, or an unknown number of bytes. */
  get isEndless(): boolean {
    return this.#body?.isEndless ?? !(this.#bodyLength <= maxDiscardedBytes);
  }

  /** Waits for the end of the body, or of what is received of it, but not longer than `ms`. */
  async bodyEnded(ms: number): Promise<void> {
    if (Number.isNaN(this.#bodyLength) || !this.isEndless) await this.#body?.ended(ms);
  }

  abstract controlBody(action: 'pause' | 'resume' | 'close'): void;

  /** The client's address. Not called once the request is over. */
  protected abstract readAddress(): string;

  /** Sees to it that `aborted` is called when the client disconnects. Called once. */
  protected abstract watchConnection(): void;

  /** Begins to pass the body's chunks on, as `BodyBuffer.push` takes them. Called once, for a request that has a body. */
  protected abstract receive(push: PushChunk): void;

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const body = new BodyBuffer(this.#bodyLength, this.#limits.maxStreamBytes, this);
    this.#body = body;
    if (this.isAborted) body.fail(clientDisconnected());
    else if (this.hasEnded) body.fail(new Error('The request was answered before its body was read.'));
    else if (this.#bodyLength === 0) body.push(new Uint8Array(0), true);
    else {
      this.receive((chunk, isLast, isOwn) => {
        body.push(chunk, isLast, isOwn);
        if (isLast) this.#continue();
      });
    }
    return body;
  }

  #continue(): void {
    const next = this.#onBody;
    this.#onBody = undefined;
    next?.();
  }
}
