import type { ErrorDefinitions, RestMeta } from 'trpc-gateway/procedures';
import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { loadLazyRouters, readErrors } from 'trpc-gateway/command';
import type { ProcedureErrors } from './procedureErrors.ts';
import { TypegenError } from './typegenError.ts';

/** The parts of a procedure that the generator reads. */
export interface ProcedureInfo {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The metadata of the REST operation, if there is one. */
  readonly rest: RestMeta | undefined;
  readonly inputs: readonly unknown[];
  readonly output: unknown;
  /** What a subscription yields. */
  readonly event: unknown;
  /** The declared errors; `undefined` if there are none. */
  readonly errors: ErrorDefinitions | undefined;
}

/**
 * Returns every procedure of a router in the router's order. Loads lazy routers.
 * @param unknown the procedures whose errors need not be known
 * @param problems receives the errors of procedures
 * @throws {TypegenError}
 */
export async function loadProcedures(
  router: AnyTRPCRouter,
  unknown: ReadonlySet<string>,
  problems: ProcedureErrors,
): Promise<readonly ProcedureInfo[]> {
  await loadLazyRouters(router);
  for (const path of unknown) {
    if (!Object.hasOwn(router._def.procedures as object, path)) {
      throw new TypegenError(
        `The router has no procedure "${path}". Write the path as clients do, such as posts.list, or remove it (--unknown).`,
      );
    }
  }
  const procedures: ProcedureInfo[] = [];
  for (const [path, procedure] of Object.entries(
    router._def.procedures as Record<string, AnyTRPCProcedure>,
  )) {
    // `output` is in `_def` at run time but not in its type (@trpc/server 11.25); trpc-to-openapi reads it like this, too.
    const def = procedure._def as AnyTRPCProcedure['_def'] & { readonly output?: unknown };
    const { openapi } = (def.meta ?? {}) as { readonly openapi?: boolean | RestMeta };
    const rest = openapi && openapi !== true && openapi.enabled !== false ? openapi : undefined;
    procedures.push({
      path,
      type: def.type,
      rest,
      inputs: def.inputs,
      output: def.output,
      event: rest?.event,
      errors: await errorsOf(path, procedure).catch((error: unknown) => {
        if (unknown.has(path) && error instanceof TypegenError) return undefined;
        return problems.add(path, error);
      }),
    });
  }
  return procedures;
}

/** @throws {TypegenError} for a custom formatter, and for two definitions of one code */
async function errorsOf(path: string, procedure: AnyTRPCProcedure): Promise<ErrorDefinitions | undefined> {
  let isKnown = true;
  const definition = procedure._def as unknown as Parameters<typeof readErrors>[1];
  const errors = await readErrors(path, definition, () => {
    isKnown = false;
  }).catch(({ message }: Error) => {
    throw new TypegenError(message);
  });
  if (isKnown) return errors;
  throw new TypegenError(
    `Procedure "${path}": the shape of its errors is not known at run time. Declare them with .errors(declareErrors({ … })) of trpc-gateway/procedures.`,
  );
}
