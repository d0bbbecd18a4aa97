import { pino } from 'pino';

/** Formats an error and its causes for a log line. Each text occurs once, in `message`; `stack` has types and frames. */
export function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  let message = '';
  let stack = '';
  const seen = new Set<Error>();
  for (let each: unknown = error; each instanceof Error && !seen.has(each); each = each.cause) {
    seen.add(each);
    // tRPC wraps an error that a procedure throws, and copies its message and stack.
    if (each.cause instanceof Error && each.stack === each.cause.stack) continue;
    // Errors of stores and drivers quote their cause.
    if (!message.includes(each.message)) message += `${message && ': '}${each.message}`;
    stack += `${stack && '\ncaused by: '}${each.name}${framesOf(each)}`;
  }
  return { ...pino.stdSerializers.err(error), message, stack };
}

/** Returns the frames of the stack, which begins with the name and the message, possibly of several lines. */
function framesOf({ message, stack = '' }: Error): string {
  const messageAt = stack.indexOf(message);
  const framesAt = stack.indexOf('\n    at ', messageAt < 0 ? 0 : messageAt + message.length);
  return framesAt < 0 ? '' : stack.slice(framesAt);
}
