import { isAsyncIterable } from './isAsyncIterable.ts';
import { isObject } from './isObject.ts';
import type { HttpResponse } from './response.ts';
import { formatValue } from './formatValue.ts';

/**
 * Checks that a value returned by user code is a response.
 * @param source names the code in the message, such as `The route GET /healthz`
 * @throws {TypeError} if it is not a response
 */
export function requireResponse(value: unknown, source: string): HttpResponse {
  if (!isObject(value) || typeof value['status'] !== 'number' || !isIterable(value['headers'])) {
    throw new TypeError(
      `${source} returned ${formatValue(value)}; it must return a response, such as { status: 200, headers: [['content-type', 'text/plain']], body: 'ok' }.`,
    );
  }
  if (!isBody(value['body'])) {
    throw new TypeError(
      `${source} returned a body that is ${formatValue(value['body'])}; it must be a string, bytes or a stream, such as JSON.stringify(…).`,
    );
  }
  return value as unknown as HttpResponse;
}

const isIterable = (value: unknown) =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

const isBody = (body: unknown) =>
  body === undefined ||
  body === null ||
  typeof body === 'string' ||
  body instanceof Uint8Array ||
  isAsyncIterable(body);
