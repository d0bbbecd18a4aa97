import type { RequestRecord } from './requestRecord.ts';
import type { FailedCall } from './requestScope.ts';

/**
 * Writes each unexpected error to stderr, with the procedures that it ended. It is used without `onResponse`, so that
 * every 500 is logged somewhere. An error of the whole request, such as one of `createContext`, is written once.
 */
export function logUnexpected(record: RequestRecord, failedCalls: readonly FailedCall[] = []): void {
  const pathsByError = new Map<unknown, string[]>();
  for (const { error, path } of failedCalls) {
    const paths = pathsByError.get(error) ?? [];
    if (path !== undefined) paths.push(path);
    pathsByError.set(error, paths);
  }
  const { error, method, operation, path, requestId } = record;
  if (error !== undefined && !pathsByError.has(error)) pathsByError.set(error, []);
  for (const [each, paths] of pathsByError) {
    const name = paths.length > 0 ? paths.join(',') : operation;
    const procedure = name === undefined ? '' : `procedure ${oneLine(name)}, `;
    // oxlint-disable-next-line no-console -- it is the log of a service that has named no other
    console.error(
      `${oneLine(method)} ${oneLine(path)} failed unexpectedly (${procedure}request ${requestId}): ${withCauses(each)}`,
    );
  }
}

/**
 * Makes text of a client safe to log: it replaces control characters, which terminals interpret, and limits the length,
 * since a request target may have 16 KiB.
 */
function oneLine(text: string): string {
  const printable = text.slice(0, maxCharacters).replaceAll(/[^\x20-\x7e]/g, '?');
  return text.length > maxCharacters ? `${printable}…` : printable;
}

const maxCharacters = 256;

/** Returns the stack of an error, followed by those of its causes. */
function withCauses(error: unknown, depth = 5): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? String(error);
  const { cause } = error;
  // tRPC copies the stack of an error to the TRPCError that wraps it.
  if (cause === undefined || (cause instanceof Error && cause.stack === text) || depth === 0) return text;
  return `${text}\nCause: ${withCauses(cause, depth - 1)}`;
}
