import type { ErrorDefinitions, RestMeta } from '@petstore/gateway/meta';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { readDeclaredErrors } from './declaredErrors.ts';
import { TypegenError } from './typegenError.ts';

/** What the generator reads of a procedure. */
export interface Procedure {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The metadata of its REST operation, where it has one. */
  readonly rest: RestMeta | undefined;
  readonly inputs: readonly unknown[];
  readonly output: unknown;
  /** Those that it declares; `undefined` where it declares none. */
  readonly errors: ErrorDefinitions | undefined;
}

/** Every procedure of a router in the router's order. Lazy routers are loaded. */
export async function readProcedures(router: AnyTRPCRouter): Promise<readonly Procedure[]> {
  // A loaded router may hold further lazy routers.
  for (let lazy = Object.values(router._def.lazy); lazy.length > 0; lazy = Object.values(router._def.lazy)) {
    await Promise.all(lazy.map((loader) => loader.load()));
  }
  const all: Procedure[] = [];
  for (const [path, procedure] of Object.entries(
    router._def.procedures as Record<string, AnyTRPCProcedure>,
  )) {
    // `output` is in `_def` at run time but not in its type (@trpc/server 11.25); trpc-to-openapi reads it the same way.
    const def = procedure._def as AnyTRPCProcedure['_def'] & { readonly output?: unknown };
    if (!Array.isArray(def.inputs)) {
      throw new TypegenError(
        `The procedure ${path} has a form that this version does not know: use @trpc/server ^11.25.2.`,
      );
    }
    const { openapi } = (def.meta ?? {}) as { readonly openapi?: RestMeta };
    all.push({
      path,
      type: def.type,
      rest: openapi?.enabled === false ? undefined : openapi,
      inputs: def.inputs,
      output: def.output,
      errors: await readDeclaredErrors(path, procedure),
    });
  }
  return all;
}
