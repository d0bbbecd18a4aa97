// Hot path: one object per request.
import type { Bytes } from '../../http/request.ts';
import { ChunkCounter, noBytes } from '../serve/bodyBuffer.ts';
import { FetchRequest } from '../serve/fetchRequest.ts';
import type { RequestLimits } from '../serve/requestHead.ts';
import type { NativeRequest, NativeServer } from './native.ts';

/** Maximum size of a body that is received before the request is handled. */
const smallBodyBytes = 16_384;

/** Time without activity after which Bun closes a connection, in seconds. It rounds up to a multiple of 4. */
const idleSeconds = 10;

/** A request of Bun. Headers, body, address and signal are read from Bun only when they are needed. */
export class BunRequest extends FetchRequest {
  declare readonly native: NativeRequest;
  readonly #server: NativeServer;
  hasResponse = false;
  /** Whether the client requests that its connection closes: Bun does that, but does not say so in the response. */
  isLast = false;
  #address: string | undefined;
  #body: Bytes | undefined;
  /** Created for a body that is read in chunks. */
  #counter: ChunkCounter | undefined;
  /** Whether the client is to send the next chunk of its body. */
  #isReading = false;
  #isKept = false;
  /** Not `Request.signal`, which does not report the end of a WebSocket. */
  #abort: AbortController | undefined;
  #disconnect: DOMException | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;

  constructor(native: NativeRequest, server: NativeServer, limits: RequestLimits) {
    super(native, limits.maxBodySize, '', limits.maxStreamSize);
    this.#server = server;
  }

  override remoteAddress(): string {
    return (this.#address ??= this.#server.requestIP(this.native)?.address ?? '');
  }

  /** Whether to receive the small body first: a handler that need not wait takes a third less time. */
  get hasSmallBody(): boolean {
    if (this.method === 'GET') return false;
    const length = Number(this.header('content-length'));
    // Written so that NaN, an unknown length, returns false.
    return length > 0 && length <= smallBodyBytes;
  }

  onSmallBody(body: Bytes): void {
    this.#body = body;
    this.receivedBytes = body.byteLength;
  }

  bodyNow(maxBytes: number): Bytes | undefined {
    const body = this.#body;
    if (!body || body.byteLength > maxBytes) return undefined;
    this.#body = noBytes;
    return body;
  }

  override bodyChunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    this.keep();
    return super.bodyChunks(maxBytes);
  }

  /** Without a signal, and without `keep`: the responder calls it for a request that is still waiting after some time. */
  protected override watch(onAbort: () => void): () => void {
    this.whenAborted(onAbort);
    return () => {};
  }

  /** Most bodies arrive by the next turn, and of those Bun makes a stream in 5 µs, of others in 13. */
  protected override arrival(): Promise<void> {
    return new Promise(setImmediate);
  }

  /** Bun closes the connection of a client that does not send, but not while the reader is busy. */
  protected override beforeRead(): void {
    this.#isReading = true;
    this.release();
  }

  protected override afterRead(chunk: Uint8Array | undefined): void {
    this.#isReading = false;
    this.release(0);
    if (chunk === undefined || !(this.#counter ??= new ChunkCounter()).isFlood(chunk)) return;
    // As if the client had disconnected: Bun cannot close the connection.
    this.onDisconnect();
    this.signal.throwIfAborted();
  }

  protected override chunks(): ReadableStream<Bytes> | null {
    return this.#body ? new Blob([this.#body]).stream() : super.chunks();
  }

  override get isAborted(): boolean {
    return this.#disconnect !== undefined;
  }

  override get signal(): AbortSignal {
    this.keep();
    this.#abort ??= new AbortController();
    if (this.#disconnect) this.#abort.abort(this.#disconnect);
    return this.#abort.signal;
  }

  whenAborted(listener: (reason: unknown) => void): void {
    (this.#listeners ??= []).push(listener);
  }

  /** From now on, a disconnect is noticed, and Bun does not close the connection because it is idle. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    if (this.native.signal.aborted) this.onDisconnect();
    else this.native.signal.addEventListener('abort', () => this.onDisconnect());
    this.release(this.#isReading ? idleSeconds : 0);
  }

  /** Called while the client is to send or to read: Bun may close the connection if it is idle for `seconds`. */
  release(seconds: number = idleSeconds): void {
    if (this.#isKept) this.#server.timeout(this.native, seconds);
  }

  /** Called when the client has disconnected, or the WebSocket that this request became has closed. */
  onDisconnect(): void {
    if (this.#disconnect) return;
    this.#disconnect = new DOMException('The client disconnected.', 'AbortError');
    this.#abort?.abort(this.#disconnect);
    for (const listener of this.#listeners ?? []) listener(this.#disconnect);
  }
}
