import { expect } from 'vitest';
import type { ApiError } from 'trpc-gateway/procedures';
import type { ReceivedResponse } from './wire/responseProblems.ts';

interface ErrorResponse extends ReceivedResponse {
  readonly body: Buffer;
  error(): ApiError;
}

/** The `code` of each status: docs/decisions.md#code-values. */
const CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
} as const;

/** The error statuses that a client can cause. */
type ErrorStatus = keyof typeof CODES;

declare module 'vitest' {
  interface Matchers {
    /** Expects a status. On failure the message has the response body. */
    toHaveStatus(status: number): void;
    /** Expects an error with this status and its code, and a message that names the fields. */
    toBeError(status: ErrorStatus, ...fields: readonly string[]): void;
  }
}

expect.extend({
  toHaveStatus(response: ErrorResponse, status: number) {
    return {
      pass: response.status === status,
      message: () => `${response.status} in place of ${status}: ${response.body.toString().slice(0, 1000)}`,
      actual: response.status,
      expected: status,
    };
  },

  toBeError(received: ErrorResponse, status: ErrorStatus, ...fields: readonly string[]) {
    const { code, message = '' }: Partial<ApiError> = received.status === status ? received.error() : {};
    const missing = fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(message));
    const expected = `an error ${CODES[status]} that names ${fields.join(', ') || 'no field in particular'}`;
    return {
      // `responseProblems.ts` checks the members of the body and its status.
      pass: code === CODES[status] && missing.length === 0,
      message: () => `${received.status} in place of ${expected}: ${received.body.toString().slice(0, 1000)}`,
    };
  },
});
