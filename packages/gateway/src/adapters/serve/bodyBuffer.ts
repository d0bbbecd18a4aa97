import { Buffer } from 'node:buffer';
import { BodyTooLargeError, type Bytes } from '../../http/request.ts';

/** Maximum number of bytes that are read and dropped after a body has exceeded its limit or the response was sent. */
export const maxDiscardedBytes = 1024 * 1024;

/**
 * Maximum chunks of a body per turn of the event loop, if they average less than `smallChunkBytes`. Each is a call from
 * the parser (1 to 2 µs), and one read of 512 KiB may contain 87,000 chunks of one byte.
 */
const maxChunksPerTurn = 1000;
const smallChunkBytes = 32;

/**
 * Number of buffered bytes from which on the connection is paused. Before a reader has started, the limit is high:
 * while a connection is paused, uWebSockets.js 20 does not notice that its client has disconnected.
 */
const maxBytesBeforeRead = 1024 * 1024;
const maxBytesBetweenChunks = 64 * 1024;

/**
 * Size of the segments that unread bytes are stored in; a larger chunk is a segment of its own. After `pause`,
 * uWebSockets.js 20 continues to read as long as each read fills 512 KiB: the bytes in the kernel's buffer, and all
 * that a client on the same machine sends meanwhile. A single growing buffer took two and a half times as much memory.
 */
const segmentBytes = 64 * 1024;

/** Size from which on a chunk becomes a segment without a copy, if it may be retained. */
const wholeChunkBytes = segmentBytes / 2;

/** `Buffer.from` copies up to this number of bytes into Node's shared pool. */
const pooledBytes = Buffer.poolSize / 2;

/** Detects a body that arrives in too many small chunks. */
export class ChunkCounter {
  /** Chunks of this turn of the event loop, and their bytes. */
  #chunks = 0;
  #bytes = 0;

  /** Counts a chunk that is not the last one. @returns whether the connection must be closed */
  isFlood(chunk: Uint8Array): boolean {
    this.#chunks += 1;
    this.#bytes += chunk.byteLength;
    // Not for the first chunk: most bodies have no other.
    if (this.#chunks === 2) setImmediate(() => (this.#chunks = this.#bytes = 0));
    return this.#chunks > maxChunksPerTurn && this.#bytes < this.#chunks * smallChunkBytes;
  }
}

export const noBytes: Bytes = new Uint8Array(0);
const unreadBodyError = new Error('The response was sent before the rest of the request body was read.');

/** The connection that a body is received from. */
export interface BodySource {
  /** Pauses or resumes reading, or closes the connection at once. */
  controlBody(action: 'pause' | 'resume' | 'close'): void;
  onBodyEnd(): void;
}

/** Buffers a body up to the limit of its reader, with backpressure to the client. */
export class BodyBuffer {
  /** Number of received bytes. */
  size = 0;

  readonly #declaredLength: number;
  readonly #source: BodySource;
  #limit: number;
  #unread = 0;
  #segments: Bytes[] = [];
  /**
   * Number of free bytes at the end of the last segment. Small chunks share segments, each twice as large as the one
   * before: one object per chunk took 250 times the memory for chunks of one byte.
   */
  #room = 0;
  #maxBuffered = maxBytesBeforeRead;
  #isPaused = false;
  #isComplete = false;
  #error: Error | undefined;
  #onChange: (() => void) | undefined;
  #hasEnded = false;
  /** `size` when dropping began. */
  #droppedAt = Infinity;
  /** Created for a body in several chunks. */
  #counter: ChunkCounter | undefined;

  /**
   * @param declaredLength the length of the body in bytes; NaN for a chunked body
   * @param limit maximum size in bytes, regardless of the limit of the reader
   */
  constructor(declaredLength: number, limit: number, source: BodySource) {
    this.#declaredLength = declaredLength;
    this.#limit = limit;
    this.#source = source;
  }

  /** Waits until the body ends, too much of it was dropped, the client has disconnected, or `maxMs` have passed. */
  async whenEnded(maxMs: number): Promise<void> {
    const timer = setTimeout(() => this.#end(), maxMs).unref();
    while (!this.#hasEnded) await this.#change();
    clearTimeout(timer);
  }

  /** Whether the rest of the body is longer than the server reads after a response, or of unknown length. */
  get exceedsDiscardLimit(): boolean {
    if (this.#isComplete) return false;
    // What was dropped before the response counts, too.
    const from = Math.min(this.#droppedAt, this.size);
    return this.#isTooMuch || !(this.#declaredLength - from <= maxDiscardedBytes);
  }

  /** Receives a chunk from the parser. @param isOwn whether it may be retained, not copied */
  push(chunk: Uint8Array, isLast: boolean, isOwn = false): void {
    this.size += chunk.byteLength;
    if (!isLast && (this.#counter ??= new ChunkCounter()).isFlood(chunk)) {
      return this.#source.controlBody('close');
    }
    if (this.size > this.#limit) this.#drop(new BodyTooLargeError(this.#limit));
    else if (this.#error === undefined) this.#append(chunk, isLast, isOwn);
    this.#isComplete = isLast;
    if (isLast || this.#isTooMuch) this.#hasEnded = true;
    // The rest may still arrive: bytes already read are parsed. The next request needs the connection resumed.
    if (isLast) {
      if (this.#isPaused) this.#resume();
    } else if (this.#isTooMuch || this.#unread > this.#maxBuffered) {
      this.#isPaused = true;
      this.#source.controlBody('pause');
    }
    this.#onChange?.();
    if (isLast) this.#source.onBodyEnd();
  }

  /** Called when the client has disconnected: a body that is not complete fails with the reason. */
  abort(reason: Error): void {
    if (!this.#isComplete) this.#drop(reason);
    this.#end();
  }

  /** Drops the rest of the body: the response was sent, or the reader has stopped. */
  discard(): void {
    if (this.#isComplete && this.#unread === 0) return;
    this.#drop(unreadBodyError);
    this.#onChange?.();
  }

  /** Returns the whole body, or `undefined` if it is not complete or is too large. */
  takeWhole(maxBytes: number): Bytes | undefined {
    if (!this.#isComplete || this.#error || this.size > maxBytes) return undefined;
    if (this.#segments.length < 2) return this.#takeSegment();
    const body = Buffer.concat(this.#segments, this.#unread);
    this.#clear();
    return body;
  }

  read(maxBytes: number): Promise<Bytes> {
    const body = this.#readWhole(maxBytes);
    // A handler may respond without awaiting the body. An unhandled rejection would end the process.
    body.catch(() => {});
    return body;
  }

  async *chunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    this.#open(maxBytesBetweenChunks, maxBytes);
    try {
      for (;;) {
        if (this.#error) throw this.#error;
        if (this.#unread > 0) {
          yield unpooledBytes(this.#takeSegment());
        } else if (this.#isComplete) {
          return;
        } else {
          this.#resume();
          await this.#change();
        }
      }
    } finally {
      this.discard();
    }
  }

  async #readWhole(maxBytes: number): Promise<Bytes> {
    this.#open(Infinity, maxBytes);
    this.#resume();
    for (;;) {
      if (this.#error) throw this.#error;
      const body = this.takeWhole(Infinity);
      if (body) return unpooledBytes(body);
      await this.#change();
    }
  }

  #open(maxBuffered: number, maxBytes: number): void {
    this.#maxBuffered = maxBuffered;
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declaredLength > this.#limit || this.size > this.#limit)
      this.#drop(new BodyTooLargeError(this.#limit));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  #append(chunk: Uint8Array, isLast: boolean, isOwn: boolean): void {
    const isFirst = this.#unread === 0;
    this.#unread += chunk.byteLength;
    if (isLast && isFirst && chunk.byteLength <= pooledBytes) {
      // Copied into Node's pool: a separate allocation for each small body takes 0.8 µs more, 5% of a POST.
      this.#segments.push(Buffer.from(chunk));
      return;
    }
    const last = this.#segments.at(-1) ?? noBytes;
    const rest = chunk.subarray(this.#room);
    last.set(chunk.subarray(0, this.#room), last.byteLength - this.#room);
    this.#room = Math.max(0, this.#room - chunk.byteLength);
    if (rest.byteLength === 0) return;
    if (rest.byteLength >= wholeChunkBytes) {
      this.#segments.push(isOwn && hasOwnBuffer(rest) ? new Uint8Array(rest.buffer) : new Uint8Array(rest));
    } else {
      const segment = new Uint8Array(Math.max(rest.byteLength, Math.min(2 * last.byteLength, segmentBytes)));
      segment.set(rest);
      this.#segments.push(segment);
      this.#room = segment.byteLength - rest.byteLength;
    }
  }

  #takeSegment(): Bytes {
    // `shift` of V8 takes longer than the rest, also of a list with one item.
    const segment = (this.#segments.length > 1 ? this.#segments.shift() : this.#segments.pop()) ?? noBytes;
    let bytes = segment;
    if (this.#segments.length === 0 && this.#room > 0) {
      bytes = segment.subarray(0, segment.byteLength - this.#room);
      this.#room = 0;
    }
    this.#unread -= bytes.byteLength;
    return bytes;
  }

  #clear(): void {
    this.#segments = [];
    this.#room = 0;
    this.#unread = 0;
  }

  #drop(reason: Error): void {
    this.#error ??= reason;
    this.#droppedAt = Math.min(this.#droppedAt, this.size);
    this.#clear();
    this.#resume();
  }

  /** Whether more was dropped than `maxDiscardedBytes`. The connection is then not read any more. */
  get #isTooMuch(): boolean {
    return !this.#isComplete && this.size > this.#droppedAt + maxDiscardedBytes;
  }

  #resume(): void {
    if (!this.#isPaused || this.#isTooMuch) return;
    this.#isPaused = false;
    this.#source.controlBody('resume');
  }

  #end(): void {
    this.#hasEnded = true;
    this.#onChange?.();
  }
}

/** Returns bytes in a buffer that contains nothing else, so that the reader may transfer it. */
const unpooledBytes = (bytes: Bytes): Bytes => (bytes instanceof Buffer ? new Uint8Array(bytes) : bytes);

/** Whether the buffer of a chunk contains nothing else. */
const hasOwnBuffer = (chunk: Uint8Array): chunk is Bytes => chunk.buffer.byteLength === chunk.byteLength;
