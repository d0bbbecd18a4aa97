import type { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { expect, it } from 'vitest';
import { serverErrors } from './failedCalls.ts';

it('the errors of the server are the codes to which tRPC gives a status of 500 or more', () => {
  const codes = Object.keys(TRPC_ERROR_CODES_BY_KEY) as TRPCError['code'][];
  const isOfServer = (code: TRPCError['code']) => getHTTPStatusCodeFromError({ code } as TRPCError) >= 500;
  expect(codes.filter(isOfServer).toSorted()).toEqual([...serverErrors].toSorted());
});
