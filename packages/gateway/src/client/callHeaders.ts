import type { Operation } from '@trpc/client';
import { timeoutHeader, timeoutValue } from '../http/timeoutHeader.ts';

/** What `safeRetryLink` leaves in the context of an operation. */
export interface RetriedCall {
  /** When the client stops waiting, by `performance.now()`. */
  readonly deadline: number;
  /** Whether a request has carried the idempotency key. Without one a repeat is not safe. */
  isKeySent: boolean;
}

/** The members of an operation's context that belong to this package. */
interface CallContext {
  readonly idempotencyKey?: string;
  readonly retriedCall?: RetriedCall;
}

export const contextOf = ({ context }: Pick<Operation, 'context'>): CallContext => context;

/** Whether a call has an idempotency key: for a `splitLink` that sends such a call on its own, since a batch must have none. */
export const hasIdempotencyKey = (op: Operation): boolean =>
  op.type === 'mutation' && contextOf(op).idempotencyKey !== undefined;

/**
 * `headers` of `httpLink`, `httpBatchLink` and the like: the `Idempotency-Key` of the call, and how long the client still
 * waits (`Grpc-Timeout`), for a batch as long as for any of its calls.
 * @throws {Error} for a batch with a call that has an idempotency key
 */
export function callHeaders(
  request: { readonly op: Operation } | { readonly opList: readonly Operation[] },
): Record<string, string> {
  const isBatch = 'opList' in request;
  const calls = isBatch ? request.opList : [request.op];
  const headers: Record<string, string> = {};
  const deadlines = calls.map((op) => contextOf(op).retriedCall?.deadline ?? Infinity);
  const ms = Math.max(...deadlines) - performance.now();
  if (ms < Infinity) headers[timeoutHeader] = timeoutValue(ms);
  const keyed = calls.find(hasIdempotencyKey);
  if (keyed === undefined) return headers;
  if (isBatch) {
    throw new Error(
      `The call of "${keyed.path}" has an idempotency key, which a batch cannot have: send it by httpLink. See hasIdempotencyKey.`,
    );
  }
  const { idempotencyKey = '', retriedCall } = contextOf(keyed);
  if (retriedCall) retriedCall.isKeySent = true;
  headers['idempotency-key'] = idempotencyKey;
  return headers;
}
