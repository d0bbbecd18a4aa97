import type { Calls } from '../calls/calls.ts';
import type { Policy } from '../calls/policy.ts';

/** Creates the policy that rejects a request with 503 if its calls would exceed `maxInFlight`. */
export const concurrencyPolicy = (calls: Calls): Policy<unknown> => ({
  admit: (_scope, target) => calls.rejection(target.callCount),
});
