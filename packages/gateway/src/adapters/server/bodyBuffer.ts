import { Buffer } from 'node:buffer';
import { BodyTooLargeError } from '../../http/request.ts';
import { TurnCounter } from './turnCounter.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** How many bytes of a body are received past its limit or after its response. Then the connection is not read any more. */
export const maxDiscardedBytes = 1024 * 1024;

/**
 * The most chunks of one body in one turn of the event loop, where they have fewer than `smallChunkBytes` on average. Each
 * chunk is a call from the parser, 1 to 2 µs, and one read of 512 KiB holds 87,000 chunks of one byte.
 */
const maxChunksPerTurn = 1000;
const smallChunkBytes = 32;

/**
 * How many bytes are buffered until the client has to wait: many for a reader that may yet come, since uWebSockets.js 20
 * does not notice that a client has disconnected while its connection is paused.
 */
const maxUndecidedBytes = 1024 * 1024;
const maxChunkedBytes = 64 * 1024;

/**
 * Unread bytes are kept in segments of so many bytes, or of one chunk where that is larger. uWebSockets.js 20 reads on after
 * `pause`, as long as each of its reads fills 512 KiB: what the kernel has received of the connection, and what a client of
 * the same machine sends meanwhile. One buffer that grew took two and a half times the memory of that.
 */
const segmentBytes = 64 * 1024;

/** A chunk of so many bytes is a segment as it is, where it may be kept. */
const wholeChunkBytes = segmentBytes / 2;

/** `Buffer.from` copies up to so many bytes into memory that it shares. */
const pooledBytes = Buffer.poolSize / 2;

const empty: Bytes = new Uint8Array(0);
const notRead = new Error('The request was answered before the rest of its body was read.');

export type PushChunk = BodyBuffer['push'];

/** The connection that a body comes from. */
export interface BodySource {
  /** Stops reading, goes on, or closes the connection at once. */
  controlBody(action: 'pause' | 'resume' | 'close'): void;
}

/** Buffers a body up to the limit of its reader, with backpressure to the client. */
export class BodyBuffer {
  /** How many bytes have been received. */
  size = 0;

  readonly #declared: number;
  readonly #source: BodySource;
  #limit: number;
  /** How many bytes are unread. */
  #unread = 0;
  /** The segments in front of the last one. */
  #segments: Bytes[] | undefined;
  /** The last segment, used up to `#length`. It grows: an object for each chunk of one byte took 250 times as much. */
  #bytes: Bytes = empty;
  #length = 0;
  #maxBuffered = maxUndecidedBytes;
  #isPaused = false;
  #isComplete = false;
  #error: Error | undefined;
  #onChange: (() => void) | undefined;
  #isOver = false;
  /** The size at which the rest was dropped. */
  #droppedAt = Infinity;
  #chunks: TurnCounter | undefined;
  #chunkBytes = 0;

  /**
   * @param declared the body's length in bytes, NaN where it is chunked
   * @param limit the largest body to accept, in bytes, whatever its reader allows
   */
  constructor(declared: number, limit: number, source: BodySource) {
    this.#declared = declared;
    this.#limit = limit;
    this.#source = source;
  }

  /** Waits for the body's end, for the end of reading past its limit or its response, or for the client to disconnect. */
  async ended(maxMs: number): Promise<void> {
    const timer = setTimeout(() => this.#end(), maxMs).unref();
    while (!this.#isOver) await this.#change();
    clearTimeout(timer);
  }

  /** Whether more is left than is received after a response, or an unknown number of bytes. */
  get isEndless(): boolean {
    return this.#isTooMuch || (!this.#isComplete && !(this.#declared - this.size <= maxDiscardedBytes));
  }

  /** @param isOwn whether the chunk may be kept. It is copied otherwise: its memory is the parser's */
  push(chunk: Uint8Array, isLast: boolean, isOwn = false): void {
    this.size += chunk.byteLength;
    if (!isLast && this.#isFlood(chunk)) return this.#source.controlBody('close');
    if (this.size > this.#limit) this.#drop(new BodyTooLargeError(this.#limit));
    else if (this.#error === undefined) this.#append(chunk, isLast, isOwn);
    this.#isComplete = isLast;
    if (isLast || this.#isTooMuch) this.#isOver = true;
    // The rest may come all the same: what has been read from the connection is parsed. The next request needs it resumed.
    if (isLast) this.#resume();
    else if (this.#isTooMuch || this.#unread > this.#maxBuffered) {
      this.#isPaused = true;
      this.#source.controlBody('pause');
    }
    this.#onChange?.();
  }

  /** The client has disconnected. */
  fail(reason: Error): void {
    if (!this.#isComplete) this.#drop(reason);
    this.#end();
  }

  /** Drops what is left: the request is answered, or its reader has enough. */
  discard(): void {
    if (this.#isComplete && this.#unread === 0) return;
    this.#drop(notRead);
    this.#onChange?.();
  }

  /** The whole body; `undefined` where it is not complete or too large. */
  takeWhole(maxBytes: number): Bytes | undefined {
    if (!this.#isComplete || this.#error || this.size > maxBytes) return undefined;
    return this.#takeAll();
  }

  read(maxBytes: number): Promise<Bytes> {
    const body = this.#readWhole(maxBytes);
    // A handler may respond without waiting for the body it began to read: an unhandled rejection would end the process.
    body.catch(() => {});
    return body;
  }

  async *chunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    this.#open(maxChunkedBytes, maxBytes);
    try {
      for (;;) {
        if (this.#error) throw this.#error;
        if (this.#unread > 0) {
          yield ownBytes(this.#takeSegment());
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
    while (!this.#isComplete && !this.#error) await this.#change();
    if (this.#error) throw this.#error;
    return ownBytes(this.#takeAll());
  }

  #open(maxBuffered: number, maxBytes: number): void {
    this.#maxBuffered = maxBuffered;
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declared > this.#limit || this.size > this.#limit)
      this.#drop(new BodyTooLargeError(this.#limit));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  #isFlood(chunk: Uint8Array): boolean {
    this.#chunks ??= new TurnCounter();
    const count = this.#chunks.next();
    this.#chunkBytes = count === 1 ? chunk.byteLength : this.#chunkBytes + chunk.byteLength;
    return count > maxChunksPerTurn && this.#chunkBytes < count * smallChunkBytes;
  }

  #append(chunk: Uint8Array, isLast: boolean, isOwn: boolean): void {
    const isFirst = this.#unread === 0;
    this.#unread += chunk.byteLength;
    let length = this.#length + chunk.byteLength;
    if (isLast && isFirst && length <= pooledBytes) {
      // Into Node's pool: memory of its own for each small body takes 0.8 µs more, 5% of a POST.
      this.#bytes = Buffer.from(chunk);
    } else {
      if (length > segmentBytes && this.#length > 0) {
        (this.#segments ??= []).push(this.#takeLast());
        length = chunk.byteLength;
      }
      if (length >= wholeChunkBytes && this.#length === 0) {
        this.#bytes = isOwn && isAlone(chunk) ? new Uint8Array(chunk.buffer) : new Uint8Array(chunk);
      } else {
        if (length > this.#bytes.byteLength) {
          const grown = new Uint8Array(Math.max(length, Math.min(2 * this.#bytes.byteLength, segmentBytes)));
          grown.set(this.#bytes.subarray(0, this.#length));
          this.#bytes = grown;
        }
        this.#bytes.set(chunk, this.#length);
      }
    }
    this.#length = length;
  }

  #takeLast(): Bytes {
    const bytes = this.#bytes;
    const taken = this.#length === bytes.byteLength ? bytes : bytes.subarray(0, this.#length);
    this.#bytes = empty;
    this.#length = 0;
    return taken;
  }

  #takeSegment(): Bytes {
    const bytes = this.#segments?.shift() ?? this.#takeLast();
    this.#unread -= bytes.byteLength;
    return bytes;
  }

  #takeAll(): Bytes {
    const segments = this.#segments ?? [];
    if (segments.length === 0) return this.#takeSegment();
    const all = new Uint8Array(this.#unread);
    for (let at = 0; at < all.byteLength;) {
      const bytes = this.#takeSegment();
      all.set(bytes, at);
      at += bytes.byteLength;
    }
    return all;
  }

  #drop(reason: Error): void {
    this.#error ??= reason;
    this.#droppedAt = Math.min(this.#droppedAt, this.size);
    this.#segments = undefined;
    this.#bytes = empty;
    this.#length = 0;
    this.#unread = 0;
    this.#resume();
  }

  /** Whether more has been dropped than is received for a response to be seen. Nothing more is read. */
  get #isTooMuch(): boolean {
    return !this.#isComplete && this.size > this.#droppedAt + maxDiscardedBytes;
  }

  #resume(): void {
    if (!this.#isPaused || this.#isTooMuch) return;
    this.#isPaused = false;
    this.#source.controlBody('resume');
  }

  #end(): void {
    this.#isOver = true;
    this.#onChange?.();
  }
}

/** Bytes in a buffer that holds nothing else: their reader may pass it on. */
const ownBytes = (bytes: Bytes): Bytes => (bytes instanceof Buffer ? new Uint8Array(bytes) : bytes);

/** Whether its buffer holds nothing else. */
const isAlone = (chunk: Uint8Array): chunk is Bytes => chunk.buffer.byteLength === chunk.byteLength;
