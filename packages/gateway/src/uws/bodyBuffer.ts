import { BodyTooLargeError } from '../http.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

/** How many bytes beyond the limit are thrown away while waiting for the end of a body. */
const lingerBytes = 16 * 1024 * 1024;

/** Collects a body as it comes, up to what its reader allows. */
export class BodyBuffer {
  /** Resolves at the body's end, or once it is hopelessly too large, or its client is gone. */
  readonly ended: Promise<void>;

  readonly #declared: number;
  #limit: number;
  /** What came so far, at the front. One buffer that grows: an object for each chunk of a byte took 250 times as much. */
  #bytes: Bytes = new Uint8Array(0);
  #size = 0;
  #isComplete = false;
  #failure: Error | undefined;
  #reader: { resolve: (bytes: Bytes) => void; reject: (reason: Error) => void } | undefined;
  #end: () => void = () => {};

  /**
   * @param declared the `Content-Length`, or NaN
   * @param limit how much is kept, in bytes, before somebody reads it
   */
  constructor(declared: number, limit: number) {
    this.#declared = declared;
    this.#limit = limit;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  push(chunk: ArrayBuffer, isLast: boolean): void {
    const from = this.#size;
    this.#size += chunk.byteLength;
    if (this.#size > this.#limit) this.#refuse(new BodyTooLargeError(this.#limit));
    else if (this.#failure === undefined) this.#append(chunk, from);
    this.#isComplete = isLast;
    if (isLast || this.#size > this.#limit + lingerBytes) this.#end();
    this.#settle();
  }

  /** The client is gone: what is not here by now will not come. */
  fail(reason: Error): void {
    if (!this.#isComplete) this.#refuse(reason);
    this.#end();
    this.#settle();
  }

  /** Nobody will read it: what comes is counted and not kept. */
  discard(): void {
    if (this.#reader === undefined) this.#refuse(new Error('The body was not read in time.'));
  }

  read(maxBytes: number): Promise<Bytes> {
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declared > this.#limit || this.#size > this.#limit)
      this.#refuse(new BodyTooLargeError(this.#limit));
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#settle();
    });
  }

  #append(chunk: ArrayBuffer, from: number): void {
    if (this.#size > this.#bytes.byteLength) {
      // As large as it is said to be, where it is; else twice as large each time.
      const known = this.#declared <= this.#limit ? this.#declared : 0;
      const grown = new Uint8Array(
        Math.max(this.#size, known, Math.min(2 * this.#bytes.byteLength, this.#limit)),
      );
      grown.set(this.#bytes.subarray(0, from));
      this.#bytes = grown;
    }
    // uWS detaches the chunk's memory when this returns: it is copied.
    this.#bytes.set(new Uint8Array(chunk), from);
  }

  #refuse(reason: Error): void {
    this.#failure ??= reason;
    this.#bytes = new Uint8Array(0);
  }

  #settle(): void {
    if (this.#reader === undefined) return;
    if (this.#failure) this.#reader.reject(this.#failure);
    else if (this.#isComplete) this.#reader.resolve(this.#bytes.subarray(0, this.#size));
  }
}
