import { TRPCError } from '@trpc/server';
import { performance } from '../http/performance.ts';
import { parseTimeout, timeoutHeader } from '../http/timeoutHeader.ts';
import type { Policy } from './policy.ts';

/**
 * Reads how long the client waits (`Grpc-Timeout`), which ends the calls of its request where it is sooner than their own
 * deadline. A malformed value is 400: the client relies on a deadline that would not hold.
 */
export const clientTimeoutPolicy: Policy<unknown> = {
  admit(scope, { isSocket }) {
    const value = scope.request.header(timeoutHeader);
    // The calls of a WebSocket have no headers, and that which opens it takes no time.
    if (value === undefined || isSocket) return undefined;
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
