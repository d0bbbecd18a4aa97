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
 * How many bytes are buffered until the client has to wait, by how the body is read. Many for a reader that may yet come:
 * uWebSockets.js 20 does not notice that a client has disconnected while its connection is paused.
 */
const maxBufferedBytes = {
  undecided: 1024 * 1024,
  chunks: 64 * 1024,
  whole: Infinity,
  discarded: Infinity,
};

const empty: Bytes = new Uint8Array(0);
const notRead = new Error('The request was answered before the rest of its body was read.');

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
  /** The unread bytes, at the front. One buffer that grows: an object for each chunk of one byte took 250 times as much. */
  #bytes: Bytes = empty;
  #length = 0;
  /** Whether the bytes are uWS's own memory, which it detaches when its handler returns. */
  #isBorrowed = false;
  #mode: keyof typeof maxBufferedBytes = 'undecided';
  #isPaused = false;
  #isComplete = false;
  #error: Error | undefined;
  #onChange: (() => void) | undefined;
  #isOver = false;
  /** The size at which the rest was dropped. */
  #droppedAt = Infinity;
  #chunks: TurnCounter | undefined;
  #chunkBytes = 0;
  #ended: PromiseWithResolvers<void> | undefined;

  /**
   * @param declared the body's length in bytes, NaN where it is chunked
   * @param limit how many bytes are buffered until the body is read
   */
  constructor(declared: number, limit: number, source: BodySource) {
    this.#declared = declared;
    this.#limit = limit;
    this.#source = source;
  }

  /** Resolves at the body's end, when reading stops past its limit or its response, or when the client disconnects. */
  get ended(): Promise<void> {
    this.#ended ??= Promise.withResolvers();
    if (this.#isOver) this.#ended.resolve();
    return this.#ended.promise;
  }

  /** Whether more is left than is received after a response, or an unknown number of bytes. */
  get isEndless(): boolean {
    return !this.#isComplete && !(this.#declared - this.size <= maxDiscardedBytes);
  }

  push(chunk: ArrayBuffer, isLast: boolean): void {
    this.size += chunk.byteLength;
    if (!isLast && this.#isFlood(chunk)) return this.#source.controlBody('close');
    if (this.size > this.#limit) this.#drop(new BodyTooLargeError(this.#limit));
    else if (this.#error === undefined && isLast && this.#length === 0) this.#borrow(chunk);
    else if (this.#error === undefined) this.#append(chunk);
    this.#isComplete = isLast;
    const isTooMuch = this.size > this.#droppedAt + maxDiscardedBytes;
    if (isLast || isTooMuch) this.#end();
    if (!isLast && (isTooMuch || this.#length > maxBufferedBytes[this.#mode])) {
      this.#isPaused = true;
      this.#source.controlBody('pause');
    }
    this.#onChange?.();
  }

  /** Copies what was borrowed and not read: uWS's handler is about to return. */
  keep(): void {
    if (this.#isBorrowed) this.#bytes = this.#bytes.slice();
    this.#isBorrowed = false;
  }

  /** The client has disconnected. */
  fail(reason: Error): void {
    if (!this.#isComplete) this.#drop(reason);
    this.#end();
    this.#onChange?.();
  }

  /** Drops what is left: the request is answered, or its reader has enough. */
  discard(): void {
    this.#mode = 'discarded';
    if (this.#isComplete && this.#length === 0) return;
    this.#drop(notRead);
    this.#onChange?.();
  }

  /** The whole body; `undefined` where it is not complete or too large. */
  takeWhole(maxBytes: number): Bytes | undefined {
    if (!this.#isComplete || this.#error || this.size > maxBytes) return undefined;
    if (!this.#isBorrowed) return this.#take();
    // Into Node's pool: memory of its own for each small body takes 0.8 µs more, 5% of a POST.
    this.#isBorrowed = false;
    return Buffer.from(this.#take());
  }

  read(maxBytes: number): Promise<Bytes> {
    const body = this.#readWhole(maxBytes);
    // A handler may respond without waiting for the body it began to read: an unhandled rejection would end the process.
    body.catch(() => {});
    return body;
  }

  async *chunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    this.#open('chunks', maxBytes);
    try {
      for (;;) {
        if (this.#error) throw this.#error;
        if (this.#length > 0) {
          yield this.#take();
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
    this.#open('whole', maxBytes);
    this.#resume();
    while (!this.#isComplete && !this.#error) await this.#change();
    if (this.#error) throw this.#error;
    return this.#take();
  }

  #open(mode: 'whole' | 'chunks', maxBytes: number): void {
    this.keep();
    if (this.#mode !== 'discarded') this.#mode = mode;
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declared > this.#limit || this.size > this.#limit)
      this.#drop(new BodyTooLargeError(this.#limit));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  #isFlood(chunk: ArrayBuffer): boolean {
    this.#chunks ??= new TurnCounter();
    const count = this.#chunks.next();
    this.#chunkBytes = count === 1 ? chunk.byteLength : this.#chunkBytes + chunk.byteLength;
    return count > maxChunksPerTurn && this.#chunkBytes < count * smallChunkBytes;
  }

  /** A body in one chunk, as most are, is copied once, by its reader. */
  #borrow(chunk: ArrayBuffer): void {
    this.#bytes = new Uint8Array(chunk);
    this.#length = chunk.byteLength;
    this.#isBorrowed = true;
  }

  #append(chunk: ArrayBuffer): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#bytes.byteLength) {
      // The declared size at once, where it is read whole; else twice the size each time.
      const known = this.#mode !== 'chunks' && this.#declared <= this.#limit ? this.#declared : 0;
      const grown = new Uint8Array(
        Math.max(length, known, Math.min(2 * this.#bytes.byteLength, this.#limit)),
      );
      if (this.#length > 0) grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    // A copy: uWS detaches the chunk's memory when this returns.
    this.#bytes.set(new Uint8Array(chunk), this.#length);
    this.#length = length;
  }

  #take(): Bytes {
    const bytes = this.#bytes;
    const taken = this.#length === bytes.byteLength ? bytes : bytes.subarray(0, this.#length);
    this.#bytes = empty;
    this.#length = 0;
    return taken;
  }

  #drop(reason: Error): void {
    this.#error ??= reason;
    this.#droppedAt = Math.min(this.#droppedAt, this.size);
    this.#isBorrowed = false;
    this.#take();
    this.#resume();
  }

  #resume(): void {
    if (!this.#isPaused || this.size > this.#droppedAt + maxDiscardedBytes) return;
    this.#isPaused = false;
    this.#source.controlBody('resume');
  }

  #end(): void {
    this.#isOver = true;
    this.#ended?.resolve();
  }
}
