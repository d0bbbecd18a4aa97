import { TRPCError } from '@trpc/server';
import { StoreError, type StoreErrorCode } from './store/storeError.ts';

/** What a client is told when the store fails. The store's own message names paths and causes: it is for the log. */
const answers: Record<StoreErrorCode, readonly [code: TRPCError['code'], message: string]> = {
  unavailable: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  full: ['SERVICE_UNAVAILABLE', 'The store is full; nothing was stored. Try again later.'],
  forbidden: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  fatal: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  closed: ['SERVICE_UNAVAILABLE', 'The service is stopping; nothing was stored. Try again later.'],
  'outcome-unknown': [
    'GATEWAY_TIMEOUT',
    'The store did not answer in time: whether the animal was stored is unknown.',
  ],
  'key-reused': ['UNPROCESSABLE_CONTENT', 'Idempotency-Key: it was used with another input; use a new key.'],
  'too-many-reservations': [
    'TOO_MANY_REQUESTS',
    'Idempotency-Key: this API key has used too many of them within a day; try again later, or send none.',
  ],
  conflict: ['CONFLICT', 'It is there already.'],
  damaged: ['INTERNAL_SERVER_ERROR', 'Internal server error'],
};

/**
 * Calls the store for a procedure, and makes its output of what comes back: at once where the store answers at once,
 * since waiting for nothing is a large part of what such a call costs.
 * @throws {TRPCError} for a `StoreError`, with it as the cause
 */
export function storeCall<T, R>(call: () => T | Promise<T>, output: (found: T) => R): R | Promise<R> {
  let found: T | Promise<T>;
  try {
    found = call();
  } catch (cause) {
    return fail(cause);
  }
  // Not within the `try`: what `output` throws is for the client, and to throw it once more costs 3 µs.
  return found instanceof Promise ? found.then(output, fail) : output(found);
}

function fail(cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause;
  const [code, message] = answers[cause.code];
  throw new TRPCError({ code, message, cause });
}
