import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import { procedureCall, type ProcedureCall } from './call/procedureCall.ts';
import { GatewayError } from './gatewayError.ts';
import type { RestMeta } from './meta.ts';

/** What the gateway reads of a procedure. */
export interface ProcedureDefinition {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly procedure: AnyTRPCProcedure;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly rest: RestMeta | undefined;
  readonly inputs: readonly unknown[];
  readonly output: unknown;
  readonly call: ProcedureCall;
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
      `The procedure ${path} has a form that this version of the gateway does not know: use @trpc/server ~11.25.`,
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
    call: procedureCall(path, procedure).call,
  };
}

/** Whether a parser is a zod 4 schema, of whatever copy of zod. */
export function isZod(parser: unknown): parser is z.core.$ZodType {
  return typeof parser === 'object' && parser !== null && '_zod' in parser;
}
