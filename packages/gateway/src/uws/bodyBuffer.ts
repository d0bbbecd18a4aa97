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
  #chunks: Buffer[] = [];
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
    this.#size += chunk.byteLength;
    if (this.#size > this.#limit) this.#refuse(new BodyTooLargeError(this.#limit));
    // uWS detaches the chunk's memory when this returns: copy it.
    else if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk.slice(0)));
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

  read(maxBytes: number): Promise<Bytes> {
    this.#limit = Math.min(this.#limit, maxBytes);
    if (this.#declared > this.#limit || this.#size > this.#limit)
      this.#refuse(new BodyTooLargeError(this.#limit));
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#settle();
    });
  }

  #refuse(reason: Error): void {
    this.#failure ??= reason;
    this.#chunks = [];
  }

  #settle(): void {
    if (this.#reader === undefined) return;
    if (this.#failure) this.#reader.reject(this.#failure);
    else if (this.#isComplete) this.#reader.resolve(Buffer.concat(this.#chunks));
  }
}
