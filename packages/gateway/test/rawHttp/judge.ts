import { isJson, isOfTheParser } from './responses.ts';
import type { Received } from './send.ts';
import { smuggledName } from './wire.ts';

/** What a server did with bytes. */
export interface Deeds {
  readonly exchanged: Received;
  /** What it handled, in order. */
  readonly handled: readonly string[];
  /** The names of the animals in its store. */
  readonly names: readonly string[];
}

/**
 * What is wrong with it. After each case there is a right answer, or an error or none and the connection at its end; and
 * never a request that a strict reader does not find: where the server stops early, it stops for good.
 */
export function judge(serves: readonly string[], { exchanged, handled, names }: Deeds): string[] {
  const { responses, rest, isClosed, isHung } = exchanged;
  const faults: string[] = [];
  const extra = handled.filter((target, at) => target !== serves[at]);
  if (extra.length > 0) faults.push(`It ran ${extra.map((target) => target.slice(0, 80)).join(', ')}.`);
  if (names.includes(smuggledName))
    faults.push('It stored an animal that was in the body of another request.');
  if (isHung) faults.push('It keeps a connection that the client has closed.');
  if (rest !== '') faults.push(`It sent what is no response: ${rest.slice(0, 200)}`);
  for (const response of responses) {
    if (!isOfTheParser(response) && !isJson(response)) {
      faults.push(`It answered ${response.status} and no JSON: ${response.body.slice(0, 200)}`);
    }
  }
  const isComplete =
    serves.length > 0 && handled.length === serves.length && responses.length >= serves.length;
  // With no answer it may wait for more: uWS closes what is idle.
  const isOver = isClosed || responses.length <= handled.length;
  if (!isComplete && !isOver) faults.push('It answered with an error, and keeps the connection.');
  if (!isComplete && responses.length > handled.length + 1)
    faults.push('It answered more than it was asked.');
  return faults;
}
