import { Buffer, constants } from 'node:buffer';
import { LimitError } from '../procedures/limitError.ts';

/** The limit that is in force: V8 makes no longer strings. */
const inForce = (maxBytes: number) => Math.min(maxBytes, constants.MAX_STRING_LENGTH);

/** By the length first: to count the bytes of every answer would cost more. A UTF-16 code unit is 1 to 3 bytes of UTF-8. */
const isLarger = (text: string, maxBytes: number) =>
  text.length * 3 > maxBytes && (text.length > maxBytes || Buffer.byteLength(text) > maxBytes);

/** Whether `JSON.stringify` failed because its text would be longer than a string can be (V8: 512 MiB). */
const isTooLongForString = (cause: unknown): boolean =>
  cause instanceof RangeError && cause.message === 'Invalid string length';

/**
 * The JSON text of an answer; `undefined` for what JSON does not have.
 * @throws {LimitError} `response-bytes`
 */
export function boundedJson(value: unknown, maxBytes: number): string | undefined {
  try {
    // Its type says that it is always a string.
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined || !isLarger(text, inForce(maxBytes))) return text;
  } catch (cause) {
    if (!isTooLongForString(cause)) throw cause;
  }
  throw answerTooLarge(maxBytes);
}

/** Counts the bytes of answers that go out together. Nothing fits any more after the first that does not. */
export class ResponseBytes {
  readonly #maxBytes: number;
  #length = 0;
  /** Counted only once the length leaves it open whether all fits. */
  #bytes = 0;
  #uncounted: string[] = [];
  isFull = false;

  constructor(maxBytes: number) {
    this.#maxBytes = inForce(maxBytes);
  }

  /** Counts an answer, and says whether it fits. */
  add(text: string): boolean {
    this.#length += text.length;
    this.#uncounted.push(text);
    if (this.#length * 3 <= this.#maxBytes) return true;
    if (this.#length <= this.#maxBytes) {
      for (const answer of this.#uncounted.splice(0)) this.#bytes += Buffer.byteLength(answer);
      if (this.#bytes <= this.#maxBytes) return true;
    }
    this.isFull = true;
    return false;
  }
}

// 413, not 503: the same request would meet the same limit again.
const tooLarge = (message: string) =>
  new LimitError('response-bytes', { code: 'PAYLOAD_TOO_LARGE', message });

/** For an answer, a line or an event. */
export const answerTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The answer is larger than ${inForce(maxBytes)} bytes (maxResponseBytes). The call has run; request less at once, ` +
      'such as a smaller page.',
  );

/** For a call of a batch. */
export const batchTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The answers of this batch are larger than ${inForce(maxBytes)} bytes together (maxResponseBytes). The call has ` +
      'run; send fewer calls in a batch, or request smaller pages.',
  );
