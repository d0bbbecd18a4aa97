import type { TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';

/** Codes of REST errors that tRPC has no code for. */
const restStatuses = {
  NOT_ACCEPTABLE: 406,
  URI_TOO_LONG: 414,
  REQUEST_HEADER_FIELDS_TOO_LARGE: 431,
} as const;

const trpcCodes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPC_ERROR_CODE_KEY[];
const byStatus = Map.groupBy(trpcCodes, (code) => getHTTPStatusCodeFromError({ code } as TRPCError));

/** The codes of REST errors of a status, except for those that procedures declare; none for a status that has no code. */
export function codesOf(status: number): readonly string[] {
  const restCodes = Object.entries(restStatuses).flatMap(([code, each]) => (each === status ? [code] : []));
  return [...(byStatus.get(status) ?? []), ...restCodes];
}

/** tRPC's code for a status; the closest for one that tRPC has no code for. */
export function trpcCodeOf(status: number): TRPC_ERROR_CODE_KEY {
  return byStatus.get(status)?.at(-1) ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR');
}

/** Whether a code is tRPC's or the gateway's own. */
export const isReservedCode = (code: string): boolean =>
  code in TRPC_ERROR_CODES_BY_KEY || code in restStatuses;
