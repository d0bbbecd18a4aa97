import '../checks/nodeVersion.ts';
import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY, type TRPC_ERROR_CODE_KEY } from '@trpc/server/rpc';
import * as z from 'zod';
import { ownMetadata } from '../schemas/zodSchema.ts';

/** Codes of REST errors for statuses without a tRPC code. */
const restStatuses = {
  NOT_ACCEPTABLE: 406,
  URI_TOO_LONG: 414,
  REQUEST_HEADER_FIELDS_TOO_LARGE: 431,
} as const;

const trpcCodes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPC_ERROR_CODE_KEY[];
const byStatus = Map.groupBy(trpcCodes, (code) => getHTTPStatusCodeFromError({ code } as TRPCError));

/** Lists the codes that REST errors of a status may have, without declared ones. Empty for a status without a code. */
export function codesOf(status: number): readonly string[] {
  const restCodes = Object.entries(restStatuses).flatMap(([code, each]) => (each === status ? [code] : []));
  return [...(byStatus.get(status) ?? []), ...restCodes];
}

/** Returns tRPC's code for a status: if there is none, `BAD_REQUEST` for a 4xx, `INTERNAL_SERVER_ERROR` for a 5xx. */
export function trpcCodeOf(status: number): TRPC_ERROR_CODE_KEY {
  return byStatus.get(status)?.at(-1) ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR');
}

/** Whether tRPC or the gateway uses this code itself. */
export const isReservedCode = (code: string): boolean =>
  code in TRPC_ERROR_CODES_BY_KEY || code in restStatuses;

/** Formats a tRPC code as text: `INTERNAL_SERVER_ERROR` as "Internal server error". */
export const codeMessage = (code: string): string =>
  `${code.slice(0, 1)}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;

const isStatusIn =
  (from: number, to: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to;

/** Whether a procedure can declare this value as `successStatus`: 2xx or 3xx. */
export const isSuccessStatus = isStatusIn(200, 399);

/** Whether an error can have this value as its status: 4xx or 5xx. */
export const isErrorStatus = isStatusIn(400, 599);

/** The default body of REST errors. */
export const apiErrorSchema = z
  .object({
    code: z.string().meta({ description: 'Machine-readable error code.', examples: ['NOT_FOUND'] }),
    message: z.string().meta({ description: 'Human-readable description.' }),
    status: z.int().min(400).max(599).meta({ description: 'The HTTP status code.' }),
  })
  .register(ownMetadata, { id: 'Error', description: 'What went wrong.' });
export type ApiError = z.output<typeof apiErrorSchema>;
