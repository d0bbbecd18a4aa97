import type { Calls } from '../calls/calls.ts';
import type { RequestPolicy } from '../calls/requestScope.ts';

/** Creates the policy that rejects a request with 503 if its calls would exceed `maxInFlight`. */
export const concurrencyPolicy = (calls: Calls): RequestPolicy => ({
  admit: ({ target }) => calls.rejection(target.callCount),
});
