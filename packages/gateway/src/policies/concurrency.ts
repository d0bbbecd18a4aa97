import type { Calls } from './calls.ts';
import type { Policy } from './policy.ts';

/** Rejects a request whose calls are more than may run (`maxInFlight`, 503), before they cost anything. */
export const concurrencyPolicy = (calls: Calls): Policy<unknown> => ({
  admit: (_scope, target) => calls.rejection(target.callCount),
});
