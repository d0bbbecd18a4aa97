import { TRPCError } from '@trpc/server';
import { performance } from '../http/performance.ts';
import { parseTimeout, timeoutHeader } from '../http/timeoutHeader.ts';
import type { RequestPolicy } from './requestScope.ts';

/**
 * Reads the client's timeout from `Grpc-Timeout`. It shortens the deadline of the calls of the request. A malformed
 * value is rejected with 400, because the client relies on its deadline.
 */
export const clientTimeoutPolicy: RequestPolicy = {
  admit(scope) {
    const value = scope.request.header(timeoutHeader);
    // Calls on a WebSocket have no headers, and opening the socket takes no time.
    if (value === undefined || scope.target.isSocket) return undefined;
    const ms = parseTimeout(value);
    if (ms === undefined) {
      return new TRPCError({
        code: 'BAD_REQUEST',
        message:
          'Grpc-Timeout: must be a positive integer of at most 8 digits and a unit (H, M, S, m, u or n), such as 1500m for 1.5 s.',
      });
    }
    scope.clientTimeout = { ms, endsAt: performance.now() + ms };
    return undefined;
  },
};
