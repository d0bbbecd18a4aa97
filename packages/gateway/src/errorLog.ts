import type { Exchange } from './options.ts';

/** Writes an unexpected error to stderr: what a gateway without `onExchange` does, so that no 500 goes unseen. */
export function logUnexpected({ error, method, operation, path, requestId }: Exchange): void {
  if (error === undefined) return;
  const procedure = operation === undefined ? '' : `procedure ${oneLine(operation)}, `;
  // oxlint-disable-next-line no-console -- it is the log of a service that has named no other
  console.error(
    `${oneLine(method)} ${oneLine(path)} failed unexpectedly (${procedure}request ${requestId}): ${withCauses(error)}`,
  );
}

/** A client's text: a terminal that shows the log would obey control characters, and a target may be 16 KB long. */
function oneLine(text: string): string {
  const printable = text.slice(0, mostCharacters).replaceAll(/[^\x20-\x7e]/g, '?');
  return text.length > mostCharacters ? `${printable}…` : printable;
}

const mostCharacters = 256;

/** The stack of an error, and those of what caused it. */
function withCauses(error: unknown, most = 5): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? String(error);
  const { cause } = error;
  // tRPC gives the error that it makes of another the stack of that.
  if (cause === undefined || (cause instanceof Error && cause.stack === text) || most === 0) return text;
  return `${text}\nCause: ${withCauses(cause, most - 1)}`;
}
