import type { CallError } from 'trpc-gateway';

/** tRPC's error codes whose HTTP status is 500 or more. */
export const serverErrors: ReadonlySet<string> = new Set([
  'INTERNAL_SERVER_ERROR',
  'NOT_IMPLEMENTED',
  'BAD_GATEWAY',
  'SERVICE_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
]);

/** Lists the codes of failed calls, each once: a batch may have thousands of calls, but there are few codes. */
export const distinctCodes = (callErrors: readonly CallError[]): readonly string[] => [
  ...new Set(callErrors.map(({ code }) => code)),
];
