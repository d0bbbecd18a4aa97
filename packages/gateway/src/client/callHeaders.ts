import type { Operation } from '@trpc/client';
import { timeoutHeader, formatTimeout } from '../http/timeoutHeader.ts';

/** State of a call that `safeRetryLink` stores in the context of the operation. */
export interface RetriedCall {
  /** Time at which the client stops waiting, as `performance.now()`. */
  readonly deadline: number;
  /** Whether a request with the idempotency key was sent. A retry is safe only with a key. */
  isKeySent: boolean;
}

/** Members of an operation's context that this package defines. */
interface CallContext {
  readonly idempotencyKey?: string;
  readonly retriedCall?: RetriedCall;
}

export const contextOf = ({ context }: Pick<Operation, 'context'>): CallContext => context;

/** Whether a call has an idempotency key: the condition of a `splitLink` to `httpLink`, since a batch cannot have a key. */
export const hasIdempotencyKey = (op: Operation): boolean =>
  op.type === 'mutation' && contextOf(op).idempotencyKey !== undefined;

/**
 * The headers of a call, for the option `headers` of tRPC's HTTP links: `Idempotency-Key`, and the time that the
 * client still waits (`Grpc-Timeout`; of a batch, the longest).
 * @throws {Error} for a batch with an idempotency key
 */
export function callHeaders(
  request: { readonly op: Operation } | { readonly opList: readonly Operation[] },
): Record<string, string> {
  const isBatch = 'opList' in request;
  const calls = isBatch ? request.opList : [request.op];
  const headers: Record<string, string> = {};
  const deadlines = calls.map((op) => contextOf(op).retriedCall?.deadline ?? Infinity);
  const ms = Math.max(...deadlines) - performance.now();
  if (ms < Infinity) headers[timeoutHeader] = formatTimeout(ms);
  const callWithKey = calls.find(hasIdempotencyKey);
  if (callWithKey === undefined) return headers;
  if (isBatch) {
    throw new Error(
      `The call of "${callWithKey.path}" has an idempotency key, which is not supported in a batch. Send it with httpLink; see hasIdempotencyKey.`,
    );
  }
  const { idempotencyKey = '', retriedCall } = contextOf(callWithKey);
  if (retriedCall) retriedCall.isKeySent = true;
  headers['idempotency-key'] = idempotencyKey;
  return headers;
}
