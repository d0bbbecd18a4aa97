import { utf8Length } from '../http/utf8.ts';
import { LimitError } from '../procedures/limitError.ts';

/** V8 makes no longer strings (`buffer.constants.MAX_STRING_LENGTH` of Node 22). */
const longestString = 2 ** 29 - 24;

/** The limit that is in force. */
export const largestResponse = (maxBytes: number) => Math.min(maxBytes, longestString);

/** By the length first: to count the bytes of every answer would cost more. A UTF-16 code unit is 1 to 3 bytes of UTF-8. */
const isLarger = (text: string, maxBytes: number) =>
  text.length * 3 > maxBytes && (text.length > maxBytes || utf8Length(text) > maxBytes);

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
    if (text === undefined || !isLarger(text, largestResponse(maxBytes))) return text;
  } catch (cause) {
    if (!isTooLongForString(cause)) throw cause;
  }
  throw responseTooLarge(maxBytes);
}

// 413, not 503: the same request would meet the same limit again.
const tooLarge = (message: string) =>
  new LimitError('response-bytes', { code: 'PAYLOAD_TOO_LARGE', message });

/** For an answer, a line or an event. */
export const responseTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The answer is larger than ${largestResponse(maxBytes)} bytes (maxResponseBytes). The call has run; request less at once, ` +
      'such as a smaller page.',
  );

/** For a call of a batch. */
export const batchTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The answers of this batch are larger than ${largestResponse(maxBytes)} bytes together (maxResponseBytes). The call has ` +
      'run; send fewer calls in a batch, or request smaller pages.',
  );
