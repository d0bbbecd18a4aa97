import type { Admitted } from './authentication.ts';
import type { Calls } from './calls.ts';
import type { HttpRequest } from '../http/request.ts';
import type { Passage, RateLimit } from './rateLimit.ts';

/**
 * Decides on a request whose sender is known, before anything else of it is looked at: whether so many calls may run,
 * and whether their caller may make them. What is refused for load costs its caller nothing.
 */
export type Gate<Identity> = (request: HttpRequest, admitted: Admitted<Identity>, calls: number) => Passage;

const open: Passage = { refusal: undefined, headers: [] };

export function createGate<Identity>(
  running: Calls,
  rateLimit: RateLimit<Identity> | undefined,
): Gate<Identity> {
  return (request, admitted, calls) => {
    const refusal = running.refusal(calls);
    if (refusal) return { refusal, headers: [] };
    return rateLimit?.(request, admitted, calls) ?? open;
  };
}
