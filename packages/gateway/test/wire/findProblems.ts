import { smuggledName } from './rawRequests.ts';
import { isJson, isParserError } from './responses.ts';
import type { Received } from './send.ts';

/** The effects of sent bytes on a server, and its responses. */
export interface RawOutcome {
  readonly received: Received;
  /** The handled requests, as method and target, in order. */
  readonly handled: readonly string[];
  /** The names of the animals in the server's store. */
  readonly storedNames: readonly string[];
}

/**
 * Returns a sentence for each violation. The server serves all requests that a strict reader finds (`serves`), or
 * sends an error or nothing and closes. It runs no other request, and none after it stops early.
 */
export function findProblems(
  serves: readonly string[],
  { received, handled, storedNames }: RawOutcome,
): string[] {
  const { responses, rest, isClosed, isHung } = received;
  const problems: string[] = [];
  const extra = handled.filter((target, at) => target !== serves[at]);
  if (extra.length > 0) problems.push(`It ran ${extra.map((target) => target.slice(0, 80)).join(', ')}.`);
  if (storedNames.includes(smuggledName))
    problems.push('It stored an animal that was in the body of another request.');
  if (isHung) problems.push('It keeps a connection that the client has closed.');
  if (rest !== '') problems.push(`It sent bytes that are not a response: ${rest.slice(0, 200)}`);
  for (const response of responses) {
    if (!isParserError(response) && !isJson(response)) {
      problems.push(`It sent ${response.status} without JSON: ${response.body.slice(0, 200)}`);
    }
  }
  const isComplete =
    serves.length > 0 && handled.length === serves.length && responses.length >= serves.length;
  // Without a response the server may wait for more bytes: uWebSockets.js closes idle connections.
  const hasStopped = isClosed || responses.length <= handled.length;
  if (!isComplete && !hasStopped) problems.push('It sent an error and keeps the connection open.');
  if (!isComplete && responses.length > handled.length + 1)
    problems.push('It sent more responses than there were requests.');
  return problems;
}
