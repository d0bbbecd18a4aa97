import { performance } from 'node:perf_hooks';
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { HttpRequest } from '../../http/request.ts';
import type { HttpRejection } from '../../http/service.ts';
import { BodyBuffer, pastBytes, type Bytes } from './bodyBuffer.ts';
import { headFault, type HeadLimits } from './headFault.ts';
import { RequestHead } from './requestHead.ts';

/** What `signal` aborts with, and what a body that was being read fails with. */
const clientGone = () => new DOMException('The client went away.', 'AbortError');

export interface RequestLimits extends HeadLimits {
  /** How much of a body is kept before somebody reads it, who may allow less, in bytes. */
  readonly maxBodyBytes: number;
}

/** The most that is waited for before a request is looked at, in bytes. */
const smallBytes = 16_384;

const letterP = 0x50;

const head = new RequestHead();
const none: readonly string[] = [];
const noListeners: readonly (() => void)[] = [];

/**
 * A request of uWebSockets.js, made to outlive its handler.
 *
 * `NativeRequest` may be read only until the handler returns, and a body's `onData` must be attached by then: whatever is
 * not answered at once must be kept with `keep()`.
 */
export class UwsRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Why the host refuses it; `undefined` where it is served. */
  readonly fault: HttpRejection | undefined;
  readonly isChunked: boolean;
  /** Whether its connection must not serve another request, since its client said so or nobody knows where one begins. */
  readonly isLast: boolean;
  /**
   * Whether uWS closes the connection after the answer by itself: it goes by the value's length (uWebSockets.js 20).
   */
  readonly isClosedByUws: boolean;
  /** Whether the client went away: from then on every method of the response throws. */
  isAborted = false;
  /** Whether the response is not to be touched any more: it has ended, or its client went away. */
  isOver = false;

  readonly #res: NativeResponse;
  #names: readonly string[];
  #values: readonly string[];
  #count: number;
  #isLive = true;
  #isWatched = false;
  readonly #hasBody: boolean;
  readonly #maxBodyBytes: number;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  /** A small body that came in one piece, and that nobody has read. */
  #whole: Bytes | undefined;
  #isReceiving = false;
  #isReceived = false;
  #receivedBytes = 0;
  #whenWhole: (() => void) | undefined;
  #listeners: readonly ((reason: unknown) => void)[] = noListeners;
  #address: string | undefined;
  #seenAt: number | undefined;

  constructor(res: NativeResponse, req: NativeRequest, limits: RequestLimits) {
    this.#res = res;
    this.#maxBodyBytes = limits.maxBodyBytes;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    const query: string | undefined = req.getQuery();
    // The type says string; without a `?` it is undefined (uWebSockets.js 20).
    this.query = query ?? '';
    head.read(req);
    this.#names = head.names;
    this.#values = head.values;
    this.#count = head.count;
    this.fault = headFault(this.method, this.path, this.query, head, limits);
    const isSound = this.fault === undefined;
    this.isChunked = isSound && head.codings !== 0;
    this.isLast =
      !isSound ||
      head.isLast ||
      head.codings !== 0 ||
      // POST, PUT and PATCH have a length (RFC 9110 §8.6). One without it may have a Content-Length that the parser hides
      // behind a header with an empty name: what follows is then its body, not a request.
      (head.lengths === 0 && this.method.charCodeAt(0) === letterP);
    this.isClosedByUws = head.isLast && this.header('connection')?.length === 5;
    // Where the head is not sound, where the body is and how long nobody knows.
    this.#hasBody = isSound && (this.isChunked || (head.lengths !== 0 && Number(head.length) > 0));
  }

  header(name: string): string | undefined {
    // An empty header says no more than none.
    for (let at = 0; at < this.#count; at += 1) {
      if (this.#names[at] === name) return this.#values[at] || undefined;
    }
    return undefined;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    const headers: [string, string][] = [];
    for (let at = 0; at < this.#count; at += 1) headers.push([this.#names[at] ?? '', this.#values[at] ?? '']);
    return headers;
  }

  someHeader(test: (name: string, value: string) => boolean): boolean {
    for (let at = 0; at < this.#count; at += 1) {
      if (test(this.#names[at] ?? '', this.#values[at] ?? '')) return true;
    }
    return false;
  }

  remoteAddress(): string {
    // Not kept from the start: few ask, and it costs each request a copy.
    if (this.#address !== undefined) return this.#address;
    return this.isOver ? '' : Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }

  body(maxBytes: number): Promise<Bytes> {
    return this.#receiveBody().read(maxBytes);
  }

  bodyNow(maxBytes: number): Bytes | undefined {
    const whole = this.#whole;
    if (whole === undefined || whole.byteLength > maxBytes) return this.#body?.takeWhole(maxBytes);
    this.#whole = undefined;
    return whole;
  }

  bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#receiveBody().chunks(maxBytes);
  }

  get receivedBytes(): number {
    return this.#body?.size ?? this.#receivedBytes;
  }

  get seenAt(): number {
    return (this.#seenAt ??= performance.now());
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isAborted && !this.#abort.signal.aborted) this.#abort.abort(clientGone());
    return this.#abort.signal;
  }

  /**
   * Waits for a body that is small and comes with its length: most are here in the same packet, and who has all of it need
   * not wait, which costs a third of such a request. Nobody looks at the request before.
   * @param next called within the parser's turn, when it is here, or when the client went away first
   * @returns whether it is waited for
   */
  whenWhole(next: () => void): boolean {
    if (!this.#hasBody || this.isChunked || this.isLast) return false;
    if (Number(this.header('content-length')) > Math.min(smallBytes, this.#maxBodyBytes)) return false;
    // Its client waits for a word (RFC 9110 §10.1.1).
    if (this.header('expect') !== undefined) return false;
    this.#whenWhole = next;
    this.#receive((chunk, isLast) => {
      // Nearly always: no buffer that grows is needed.
      if (isLast && this.#body === undefined) this.#keepWhole(chunk);
      else this.#receiveBody().push(chunk, isLast);
      if (isLast) this.#goOn();
    });
    this.keep();
    return true;
  }

  whenAborted(listener: (reason: unknown) => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  /** Makes it outlive the handler: to be called in it, where no answer was given yet. */
  keep(): void {
    // Not before: the handler is not interrupted, and an answer that it gives at once would pay for it. Without it, what
    // is written after the client went away ends the process (uWebSockets.js 20).
    if (!this.#isWatched) this.#res.onAborted(() => this.aborted());
    this.#isWatched = true;
    if (!this.#isLive) return;
    this.#isLive = false;
    this.#names = this.#names.slice(0, this.#count);
    this.#values = this.#values.slice(0, this.#count);
    // A body may be asked for later, and what comes before an `onData` is attached is lost.
    if (this.#hasBody && !this.#isReceiving) this.#receiveBody();
  }

  /** Forgets the handler's request where the answer was given in it. */
  release(): void {
    this.#isLive = false;
    this.#names = none;
    this.#values = none;
    this.#count = 0;
  }

  /** Nobody reads what is left of the body: it is taken and thrown away. */
  discardBody(): void {
    this.#whole = undefined;
    this.#body?.discard();
  }

  /** The answer has ended. */
  ended(): void {
    this.isOver = true;
  }

  /** The request is about to become a WebSocket: its response is gone then, and whoever asks later is told from a copy. */
  upgrades(): void {
    this.keep();
    this.#address = this.remoteAddress();
    this.isOver = true;
  }

  /** The host's `onAborted` (uWS keeps only the last one), or the end of what became a WebSocket. */
  aborted(): void {
    this.isAborted = true;
    this.isOver = true;
    const reason = clientGone();
    this.#body?.fail(reason);
    this.#abort?.abort(reason);
    for (const listener of this.#listeners) listener(reason);
    this.#goOn();
  }

  /** Whether more of the body is left than is read past an answer, or an unknown number of bytes. */
  get isEndless(): boolean {
    if (!this.#hasBody || this.#isReceived) return false;
    return this.#body?.isEndless ?? Number(this.header('content-length')) > pastBytes;
  }

  /**
   * Resolves when the body is over, or when so much more of it came than may that its end is not worth waiting for.
   * `undefined`: there is none, or its Content-Length says that it is that long.
   */
  bodyEnded(): Promise<void> | undefined {
    return this.isChunked || !this.isEndless ? this.#body?.ended : undefined;
  }

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const declared = Number(this.header('content-length') ?? Number.NaN);
    const body = new BodyBuffer(declared, this.#maxBodyBytes, {
      pause: () => this.#flow((res) => res.pause()),
      resume: () => this.#flow((res) => res.resume()),
      close: () => this.#flow((res) => res.close()),
    });
    this.#body = body;
    if (this.#whole) body.push(this.#whole.buffer, true);
    else if (this.isAborted) body.fail(clientGone());
    else if (this.isOver) body.fail(new Error('The request was answered before its body was asked for.'));
    else if (!this.#hasBody || this.#isReceived) body.push(new ArrayBuffer(0), true);
    else if (!this.#isReceiving) this.#receive((chunk, isLast) => body.push(chunk, isLast));
    return body;
  }

  #receive(take: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.#isReceiving = true;
    this.#res.onData(take);
  }

  #keepWhole(chunk: ArrayBuffer): void {
    this.#isReceived = true;
    this.#receivedBytes = chunk.byteLength;
    // uWS detaches the chunk's memory when this returns. Not `slice`: up to 64 bytes have their place within this object.
    this.#whole = new Uint8Array(chunk.byteLength);
    this.#whole.set(new Uint8Array(chunk));
  }

  #goOn(): void {
    const next = this.#whenWhole;
    this.#whenWhole = undefined;
    next?.();
  }

  #flow(turn: (res: NativeResponse) => void): void {
    if (!this.isOver) turn(this.#res);
  }
}
