import { TRPCError } from '@trpc/server';

/** Whether a value is a TRPCError, also of another copy of tRPC: an app in CommonJS and the gateway have one each. */
export const isTrpcError = (value: unknown): value is TRPCError =>
  value instanceof TRPCError || (value instanceof Error && value.name === 'TRPCError');
