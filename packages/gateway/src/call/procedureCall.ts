import type { AnyTRPCProcedure } from '@trpc/server';

/** Runs a procedure. It rejects with a `TRPCError`. */
export type ProcedureCall = (
  context: unknown,
  /** The input as the client sent it. Called once the procedure's chain asks for it; what it throws is the call's error. */
  getRawInput: () => unknown,
  signal: AbortSignal | undefined,
) => Promise<unknown>;

/** A procedure as a function that runs its whole chain: middlewares, input, resolver, output. */
export function procedureCall(path: string, procedure: AnyTRPCProcedure): ProcedureCall {
  const { type } = procedure._def;
  return (ctx, getRawInput, signal) =>
    procedure({ ctx, getRawInput: async () => getRawInput(), path, type, signal, batchIndex: 0 });
}
