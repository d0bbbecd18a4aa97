import type { TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';

const codes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPC_ERROR_CODE_KEY[];
const byStatus = Map.groupBy(codes, (code) => getHTTPStatusCodeFromError({ code } as TRPCError));

/** tRPC's codes for a status; none for a status that tRPC lacks. */
export const codesOf = (status: number): readonly TRPC_ERROR_CODE_KEY[] => byStatus.get(status) ?? [];
