import type { AnyTRPCProcedure } from '@trpc/server';
import { fastCall } from './fastCall.ts';

/**
 * Runs a procedure's whole chain: middlewares, input, resolver, output. What comes back is the output, or `Failed`, at
 * once where nothing in the chain is waited for; else a promise of the output, which rejects as the procedure itself
 * rejects: with a `TRPCError`, unless a middleware returned something that is no result.
 */
export type ProcedureCall = (
  context: unknown,
  /** The input as the client sent it. Called when the chain asks for it; what it throws is the call's error. */
  getRawInput: () => unknown,
  signal: AbortSignal | undefined,
  /** The call's place in its batch. Default: 0. */
  batchIndex?: number,
) => unknown;

/**
 * As `ProcedureCall`, and it takes as many turns as the procedure itself: for calls of which it shows on the wire which
 * one ended first.
 */
export type TurnwiseCall = (
  context: unknown,
  getRawInput: () => Promise<unknown>,
  signal: AbortSignal | undefined,
  batchIndex: number,
) => Promise<unknown>;

/**
 * How a procedure is called: `direct` where its chain is inputs, resolver and outputs alone, `chain` where it has
 * middlewares of its own, `trpc` through the procedure itself, where its form is not what is known of tRPC.
 */
export type CallWay = 'direct' | 'chain' | 'trpc';

export interface CompiledCall {
  readonly way: CallWay;
  readonly call: ProcedureCall;
  readonly callInTurns: TurnwiseCall;
}

/** A procedure as a function, made once. */
export const procedureCall = (path: string, procedure: AnyTRPCProcedure): CompiledCall =>
  fastCall(path, procedure) ?? ownCall(path, procedure);

/** tRPC's own call. */
export function ownCall(path: string, procedure: AnyTRPCProcedure): CompiledCall {
  const { type } = procedure._def;
  const callInTurns: TurnwiseCall = (ctx, getRawInput, signal, batchIndex) =>
    procedure({ ctx, getRawInput, path, type, signal, batchIndex });
  const call: ProcedureCall = (ctx, getRawInput, signal, batchIndex = 0) =>
    callInTurns(ctx, async () => getRawInput(), signal, batchIndex);
  return { way: 'trpc', call, callInTurns };
}
