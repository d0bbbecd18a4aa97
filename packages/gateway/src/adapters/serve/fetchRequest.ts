// Hot path: one object per request.
import { BodyTooLargeError, type Bytes, type HttpRequest, joinBytes } from '../../http/request.ts';

/** Number of chunks of a body that are joined: unjoined, chunks of one byte take some 200 times their bytes. */
const joinedChunks = 64;

type BodyReader = ReadableStreamDefaultReader<Bytes>;
type ReadResult = Awaited<ReturnType<BodyReader['read']>>;

const cancel = (reader: BodyReader, reason?: unknown) => void reader.cancel(reason).catch(() => {});

export class FetchRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  receivedBytes = 0;
  readonly native: Request;
  readonly #headers: Headers;
  readonly #maxBodySize: number;
  readonly #maxStreamSize: number;
  readonly #remoteAddress: string;
  #unwatch: (() => void) | undefined;

  /**
   * @param maxBodySize maximum size of a body that is read into memory, regardless of the limit of its reader
   * @param maxStreamSize maximum size of a body that is read in chunks
   */
  constructor(native: Request, maxBodySize: number, remoteAddress: string, maxStreamSize = maxBodySize) {
    this.native = native;
    this.#headers = native.headers;
    this.#maxBodySize = maxBodySize;
    this.#maxStreamSize = maxStreamSize;
    this.#remoteAddress = remoteAddress;
    this.method = native.method;
    // The URL is serialized (URL Standard §4.5): a scheme, an authority, and a path that starts with a slash. `new URL`
    // would take 2 µs. Bun leaves out scheme and authority if the Host header is invalid.
    const { url } = native;
    const fragment = url.indexOf('#');
    const end = fragment === -1 ? url.length : fragment;
    const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
    const mark = url.indexOf('?', start);
    const hasQuery = mark !== -1 && mark < end;
    this.path = url.slice(start, hasQuery ? mark : end);
    this.query = hasQuery ? url.slice(mark + 1, end) : '';
  }

  get scheme(): 'http' | 'https' {
    return this.native.url.startsWith('https:') ? 'https' : 'http';
  }

  header(name: string): string | undefined {
    const value = this.#headers.get(name);
    if (value !== null || name !== 'host') return value || undefined;
    // A request that was not received over a network has no Host header.
    const { url } = this.native;
    const start = url.indexOf('://') + 3;
    const host = url.slice(start, url.indexOf('/', start));
    return host.slice(host.lastIndexOf('@') + 1);
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name);
  }

  headers(): Iterable<[name: string, value: string]> {
    return this.#headers;
  }

  remoteAddress(): string {
    return this.#remoteAddress;
  }

  async body(maxBytes: number): Promise<Bytes> {
    const parts: Bytes[] = [];
    let chunks: Bytes[] = [];
    const limit = Math.min(maxBytes, this.#maxBodySize);
    await this.arrival();
    const reader = this.#open(limit);
    // Not by `bodyChunks`: a generator takes longer than the rest for a body of one chunk.
    try {
      for (;;) {
        const chunk = this.#accept(await this.#next(reader), limit);
        if (chunk === undefined) return joinBytes([...parts, ...chunks]);
        if (chunks.push(chunk) < joinedChunks) continue;
        parts.push(joinBytes(chunks));
        chunks = [];
      }
    } finally {
      this.#close(reader);
    }
  }

  async *bodyChunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    const limit = Math.min(maxBytes, this.#maxStreamSize);
    await this.arrival();
    const reader = this.#open(limit);
    try {
      for (;;) {
        const chunk = this.#accept(await this.#next(reader), limit);
        if (chunk === undefined) return;
        yield chunk;
      }
    } finally {
      this.#close(reader);
    }
  }

  /** Opens the body for a reader of chunks of at most `limit` bytes in all. */
  #open(limit: number): BodyReader | undefined {
    const body = this.chunks();
    if (Number(this.#headers.get('content-length')) > limit) {
      void body?.cancel().catch(() => {});
      throw new BodyTooLargeError(limit);
    }
    const reader = body?.getReader();
    // Ends a pending read.
    if (reader) this.#unwatch = this.watch(() => cancel(reader, this.signal.reason));
    return reader;
  }

  #next(reader: BodyReader | undefined): Promise<ReadResult> | undefined {
    this.#throwIfAborted();
    this.beforeRead();
    return reader?.read();
  }

  /** @returns `undefined` at the end of the body */
  #accept(result: ReadResult | undefined, limit: number): Bytes | undefined {
    this.#throwIfAborted();
    this.afterRead(result?.value);
    if (!result || result.done) return undefined;
    this.receivedBytes += result.value.byteLength;
    if (this.receivedBytes > limit) throw new BodyTooLargeError(limit);
    return requireBytes(result.value);
  }

  #close(reader: BodyReader | undefined): void {
    this.#unwatch?.();
    // Has no effect if the body was read completely.
    if (reader) cancel(reader);
  }

  #throwIfAborted(): void {
    if (this.isAborted) throw this.signal.reason;
  }

  /** Calls a listener when the client disconnects, until the returned function is called. */
  protected watch(onAbort: () => void): () => void {
    const { signal } = this;
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
  }

  /** Waits until it is time to open the body. */
  protected arrival(): Promise<void> | undefined {
    return undefined;
  }

  protected beforeRead(): void {}

  /** @param _chunk `undefined` at the end of the body */
  protected afterRead(_chunk: Uint8Array | undefined): void {}

  /** Returns the body, which is read once. */
  protected chunks(): ReadableStream<Bytes> | null {
    return this.native.body;
  }

  get isAborted(): boolean {
    return this.native.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.native.signal;
  }
}

/**
 * Returns a chunk in a buffer that contains nothing else, so that its reader may transfer it.
 * @throws {TypeError} if the chunk is not bytes, as `Request.bytes()` does
 */
function requireBytes(chunk: unknown): Bytes {
  if (!ArrayBuffer.isView(chunk)) {
    throw new TypeError('The body of the Request must yield Uint8Array chunks.');
  }
  const { buffer, byteLength, byteOffset } = chunk;
  const bytes = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  return buffer.byteLength === byteLength ? bytes : bytes.slice();
}
