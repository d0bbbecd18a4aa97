import { utf8Length } from '../http/response.ts';
import { LimitError } from '../procedures/limitError.ts';

/** Whether a text is too large. Its length is checked first, which is cheap: a UTF-16 code unit is 1 to 3 UTF-8 bytes. */
export const isLarger = (text: string, maxBytes: number): boolean =>
  text.length * 3 > maxBytes && (text.length > maxBytes || utf8Length(text) > maxBytes);

/** Whether `JSON.stringify` failed because its result would exceed the longest string (V8: 512 MiB, Bun: 2 GiB). */
const isTooLongForString = (cause: unknown): boolean =>
  cause instanceof RangeError && /^(?:Invalid string length|Out of memory)$/.test(cause.message);

/** Serializes as JSON; `undefined` for what JSON does not have. @throws {LimitError} `response-bytes` */
export function boundedJson(
  value: unknown,
  maxBytes: number,
  replacer?: (name: string, value: unknown) => unknown,
): string | undefined {
  try {
    // TypeScript types the result as `string`, but it may be undefined.
    const text = JSON.stringify(value, replacer) as string | undefined;
    if (text === undefined || !isLarger(text, maxBytes)) return text;
  } catch (cause) {
    if (!isTooLongForString(cause)) throw cause;
  }
  throw responseTooLarge(maxBytes);
}

/** Checks the size of two texts that are sent together. @throws {LimitError} `response-bytes` */
export function requireBytes(text: string, other: string, maxBytes: number): void {
  const length = text.length + other.length;
  if (length * 3 <= maxBytes) return;
  if (length > maxBytes || utf8Length(text) + utf8Length(other) > maxBytes) throw responseTooLarge(maxBytes);
}

// 413, not 503: the same request would meet the same limit again.
export const tooLarge = (message: string): LimitError =>
  new LimitError('response-bytes', { code: 'PAYLOAD_TOO_LARGE', message });

/** Creates the error for a response, a line or an event that is too large. */
export const responseTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The response is larger than ${maxBytes} bytes (maxResponseSize). The call has completed; request less data, such as a smaller page.`,
  );

/** Size of an error up to which it is not replaced, in bytes: its replacement would not be smaller. */
const smallErrorBytes = 1000;

export const maxErrorBytes = (maxBytes: number): number => Math.max(maxBytes, smallErrorBytes);

/** Creates the error that replaces one whose text is too large. */
export const errorTooLarge = (maxBytes: number): LimitError =>
  tooLarge(`The error of this call is larger than ${maxBytes} bytes (maxResponseSize).`);

/** Creates the error for a call of a batch that is too large. */
export const batchTooLarge = (maxBytes: number): LimitError =>
  tooLarge(
    `The responses of this batch are larger than ${maxBytes} bytes in total (maxResponseSize). The call has completed; send fewer calls in a batch, or request smaller pages.`,
  );
