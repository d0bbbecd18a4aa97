import type { RequestRecord } from './requestRecord.ts';
import type { FailedCalls } from './requestOutcome.ts';

/**
 * Writes each unexpected error to stderr, with the procedures that it ended. It is used without `onResponse`, so that
 * every 500 is logged somewhere. An error of the whole request, such as one of `createContext`, is written once.
 */
export function logUnexpected(
  { error, method, operation, path, requestId }: RequestRecord,
  failedCalls: FailedCalls = new Map(),
): void {
  for (const [each, called] of new Map([...failedCalls, [error, failedCalls.get(error) ?? []]])) {
    const name = called.join(',') || operation;
    const procedure = name === undefined ? '' : `procedure ${oneLine(name)}, `;
    // A single argument: with more, `console.error` would format each `%` of the path.
    // oxlint-disable-next-line no-console -- it is the log of a service that has named no other
    console.error(
      `${oneLine(method)} ${oneLine(path)} failed unexpectedly (${procedure}request ${requestId}): ${stackOf(each)}`,
    );
  }
}

/** Makes text of a client safe to log: replaces control characters, and limits a target of up to 16 KiB. */
function oneLine(text: string): string {
  const printable = text.slice(0, maxCharacters).replaceAll(/[^\x20-\x7e]/g, '?');
  return text.length > maxCharacters ? `${printable}…` : printable;
}

const maxCharacters = 256;

/** Returns the stack of an error and of its causes, without their other properties, which may be secrets. */
function stackOf(error: unknown, depth = 5): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : `[${typeof error}]`;
  const { cause, stack = String(error) } = error;
  if (depth === 0) return stack;
  // tRPC copies the stack of an error to the TRPCError that wraps it.
  if (cause instanceof Error && cause.stack === stack) return stackOf(cause, depth - 1);
  const others: readonly unknown[] = error instanceof AggregateError ? error.errors.slice(0, 5) : [];
  const causes = cause === undefined ? others : [cause, ...others];
  return [stack, ...causes.map((each) => `Cause: ${stackOf(each, depth - 1)}`)].join('\n');
}
