import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { LimitError } from '../../procedures/limitError.ts';
import type { Exchange } from '../../policies/exchange.ts';
import type { EndedCall } from './socketCalls.ts';

/** What is told of a call on a socket; without an operation, of a message that no call comes of. */
export function socketExchange(
  requestId: string,
  path: string,
  operation: string | undefined,
  { isStream, durationMs, error }: Omit<EndedCall, 'path'>,
): Exchange {
  const status = error === undefined ? 200 : getHTTPStatusCodeFromError(error);
  return {
    requestId,
    method: 'WS',
    path,
    face: 'rpc',
    operation,
    procedures: operation === undefined ? [] : [operation],
    calls: 1,
    status,
    isStream,
    durationMs,
    bytesIn: undefined,
    bytesOut: undefined,
    limit: error instanceof LimitError ? error.limit : undefined,
    error: status >= 500 && !(error instanceof LimitError) ? error : undefined,
  };
}
