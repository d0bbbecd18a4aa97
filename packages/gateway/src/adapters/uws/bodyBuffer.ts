import { BodyTooLargeError } from '../../http/request.ts';
import { TurnCounter } from './turnCounter.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** How many bytes of a body are read past its limit or past its answer. Then reading stops. */
export const pastBytes = 1024 * 1024;

/**
 * The most chunks of one body in one turn of the event loop, where they hold fewer than `smallBytes` on average. Each
 * chunk is a call from the parser, 1 to 2 µs, and one read of 512 KiB holds 87,000 chunks of one byte.
 */
const mostChunks = 1000;
const smallBytes = 32;

/**
 * How much is kept before the client is made to wait, in bytes. Much for a reader that may yet come: whoever is made to
 * wait and goes away is noticed only when more is taken from it (uWebSockets.js 20).
 */
const mostHeld = { 'not yet': 1024 * 1024, 'in chunks': 64 * 1024, whole: Infinity, no: Infinity };

const nothing: Bytes = new Uint8Array(0);

/** Stops and goes on with taking bytes from the client. */
export interface BodyFlow {
  pause(): void;
  resume(): void;
  /** Closes the connection at once. The parser stops. */
  close(): void;
}

/** Takes a body in as it comes, up to what its reader allows, and no faster than it is read. */
export class BodyBuffer {
  /** How many bytes have come. */
  size = 0;

  readonly #declared: number;
  readonly #flow: BodyFlow;
  #limit: number;
  /** What came and was not read, at the front. One buffer that grows: an object for each chunk of a byte took 250 times as much. */
  #bytes: Bytes = nothing;
  #held = 0;
  /** Whoever wants it whole, or not at all, is never made to wait. */
  #isWanted: keyof typeof mostHeld = 'not yet';
  #isPaused = false;
  #isComplete = false;
  #failure: Error | undefined;
  #wake: () => void = () => {};
  #isOver = false;
  /** The size at which the rest of the body was rejected. */
  #refusedAt = Infinity;
  readonly #chunks = new TurnCounter();
  #chunkBytes = 0;
  #ended: Promise<void> | undefined;
  #resolveEnded: () => void = () => {};

  /**
   * @param declared the `Content-Length`, or NaN
   * @param limit how much is kept, in bytes, before somebody reads it
   */
  constructor(declared: number, limit: number, flow: BodyFlow) {
    this.#declared = declared;
    this.#limit = limit;
    this.#flow = flow;
  }

  /** Resolves at the body's end, when reading stops past its limit or its answer, or when the client is gone. */
  get ended(): Promise<void> {
    this.#ended ??= this.#isOver
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#resolveEnded = resolve;
        });
    return this.#ended;
  }

  /** Whether more is left than is read past an answer, or an unknown number of bytes. */
  get isEndless(): boolean {
    return !this.#isComplete && !(this.#declared - this.size <= pastBytes);
  }

  #end(): void {
    this.#isOver = true;
    this.#resolveEnded();
  }

  push(chunk: ArrayBuffer, isLast: boolean): void {
    this.size += chunk.byteLength;
    if (this.#isFlood(chunk)) {
      this.#flow.close();
      return;
    }
    if (this.size > this.#limit) this.#refuse(new BodyTooLargeError(this.#limit));
    else if (this.#failure === undefined) this.#append(chunk);
    this.#isComplete = isLast;
    const isTooMuch = this.size > this.#refusedAt + pastBytes;
    if (isLast || isTooMuch) this.#end();
    if (!isLast && (isTooMuch || this.#held > mostHeld[this.#isWanted])) {
      this.#isPaused = true;
      this.#flow.pause();
    }
    this.#wake();
  }

  #isFlood(chunk: ArrayBuffer): boolean {
    const count = this.#chunks.next();
    this.#chunkBytes = count === 1 ? chunk.byteLength : this.#chunkBytes + chunk.byteLength;
    return count > mostChunks && this.#chunkBytes < count * smallBytes;
  }

  /** The client is gone: what is not here by now will not come. */
  fail(reason: Error): void {
    if (!this.#isComplete) this.#refuse(reason);
    this.#end();
    this.#wake();
  }

  /** The request is answered, or its reader has enough: what is left is taken and thrown away. */
  discard(): void {
    this.#isWanted = 'no';
    // Of one that was read whole nothing is left, and an error costs a tenth of a POST.
    if (this.#isComplete && this.#held === 0) return;
    this.#refuse(new Error('The rest of the body was not waited for.'));
    this.#wake();
  }

  /** All of it, where it is here: `undefined` where it is not, or is too large. */
  takeWhole(maxBytes: number): Bytes | undefined {
    if (!this.#isComplete || this.#failure || this.size > maxBytes) return undefined;
    return this.#take();
  }

  read(maxBytes: number): Promise<Bytes> {
    const body = this.#readWhole(maxBytes);
    // Who began to read and answered without the body is not told that it failed: nobody would hear, and it would end
    // the process.
    body.catch(() => {});
    return body;
  }

  async *chunks(maxBytes: number): AsyncGenerator<Bytes, void> {
    this.#claim('in chunks', maxBytes);
    try {
      for (;;) {
        if (this.#failure) throw this.#failure;
        if (this.#held > 0) {
          yield this.#take();
        } else if (this.#isComplete) {
          return;
        } else {
          this.#resume();
          await this.#more();
        }
      }
    } finally {
      this.discard();
    }
  }

  async #readWhole(maxBytes: number): Promise<Bytes> {
    this.#claim('whole', maxBytes);
    this.#resume();
    while (!this.#isComplete && !this.#failure) await this.#more();
    if (this.#failure) throw this.#failure;
    return this.#take();
  }

  #claim(how: 'whole' | 'in chunks', maxBytes: number): void {
    if (this.#isWanted !== 'no') this.#isWanted = how;
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declared > this.#limit || this.size > this.#limit)
      this.#refuse(new BodyTooLargeError(this.#limit));
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #append(chunk: ArrayBuffer): void {
    const held = this.#held + chunk.byteLength;
    if (held > this.#bytes.byteLength) {
      // As large as it is said to be, where it is and is wanted whole; else twice as large each time.
      const known = this.#isWanted !== 'in chunks' && this.#declared <= this.#limit ? this.#declared : 0;
      const grown = new Uint8Array(Math.max(held, known, Math.min(2 * this.#bytes.byteLength, this.#limit)));
      grown.set(this.#bytes.subarray(0, this.#held));
      this.#bytes = grown;
    }
    // uWS detaches the chunk's memory when this returns: it is copied.
    this.#bytes.set(new Uint8Array(chunk), this.#held);
    this.#held = held;
  }

  #take(): Bytes {
    const bytes = this.#bytes;
    const taken = this.#held === bytes.byteLength ? bytes : bytes.subarray(0, this.#held);
    this.#bytes = nothing;
    this.#held = 0;
    return taken;
  }

  #refuse(reason: Error): void {
    this.#failure ??= reason;
    this.#refusedAt = Math.min(this.#refusedAt, this.size);
    this.#take();
    this.#resume();
  }

  #resume(): void {
    if (!this.#isPaused || this.size > this.#refusedAt + pastBytes) return;
    this.#isPaused = false;
    this.#flow.resume();
  }
}
