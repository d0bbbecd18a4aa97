import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { procedureCall, type CallWay, type ProcedureCall, type TurnwiseCall } from './procedureCall.ts';
import { GatewayError } from './gatewayError.ts';
import type { RestMeta } from './meta.ts';

/** A procedure that is served. */
export interface ServedProcedure {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** How a plain call of it runs; all but `direct` cost more. */
  readonly way: CallWay;
}

/** What the gateway reads of a procedure. */
export interface ProcedureDefinition extends ServedProcedure {
  readonly procedure: AnyTRPCProcedure;
  readonly rest: RestMeta | undefined;
  readonly inputs: readonly unknown[];
  readonly output: unknown;
  readonly call: ProcedureCall;
  readonly callInTurns: TurnwiseCall;
}

/** Every procedure of a router, lazy routers loaded, in the router's order. */
export async function procedureDefinitions(router: AnyTRPCRouter): Promise<readonly ProcedureDefinition[]> {
  // A lazy router's metadata can only be known by loading it; what it loads may hold lazy routers too.
  for (let loaders = lazyLoaders(router); loaders.length > 0; loaders = lazyLoaders(router)) {
    await Promise.all(loaders.map((loader) => loader.load()));
  }
  const procedures = router._def.procedures as Record<string, AnyTRPCProcedure>;
  return Object.entries(procedures).map(([path, procedure]) => definition(path, procedure));
}

function lazyLoaders(router: AnyTRPCRouter): readonly { load: () => Promise<void> }[] {
  return Object.values(router._def.lazy);
}

function definition(path: string, procedure: AnyTRPCProcedure): ProcedureDefinition {
  // `output` is in `_def` at run time but not in its type (@trpc/server 11.25); trpc-to-openapi reads it the same way.
  const def = procedure._def as AnyTRPCProcedure['_def'] & { readonly output?: unknown };
  if (!Array.isArray(def.inputs)) {
    throw new GatewayError(
      `The procedure ${path} has a form that this version of the gateway does not know: use @trpc/server ^11.25.2.`,
    );
  }
  const { openapi } = (def.meta ?? {}) as { readonly openapi?: RestMeta };
  return {
    path,
    procedure,
    type: def.type,
    rest: openapi?.enabled === false ? undefined : openapi,
    inputs: def.inputs,
    output: def.output,
    ...procedureCall(path, procedure),
  };
}
