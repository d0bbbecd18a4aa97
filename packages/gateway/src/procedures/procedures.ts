import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { readCallLimits, type CallLimits } from './callLimits.ts';
import { compile, readDefinition } from './compile.ts';
import type { Executable } from './execute.ts';
import { GatewayError } from './gatewayError.ts';
import type { ErrorDefinitions } from './declareErrors.ts';
import type { RestMeta } from './meta.ts';
import { readErrors } from './readErrors.ts';
import { readIdempotencyKey, type IdempotencyKeyUse } from './readIdempotencyKey.ts';
import { checkMetaNames } from './restMetaNames.ts';
import { readScopes } from './scopes.ts';
import { createSample, selfTest } from './selfTest.ts';

/** A procedure that the gateway serves, as listed in `gateway.procedures`. */
export interface ServedProcedure {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /**
   * How calls are executed. `compiled`: the gateway runs the procedure's parsers, middlewares and resolver itself.
   * `trpc`: through tRPC's public call, which is slower. That is so if the procedure has an `experimental_caller`, is
   * wrapped, or if the installed version of tRPC creates procedures that the gateway does not recognise.
   */
  readonly execution: 'compiled' | 'trpc';
}

/** A procedure as read from the router when the gateway is created. */
export interface Procedure extends ServedProcedure, Executable, CallLimits {
  readonly rest: RestMeta | undefined;
  readonly inputs: readonly unknown[];
  readonly output: unknown;
  /** The declared errors. `undefined` if the procedure has no formatter in `.errors()` or is not served over REST. */
  readonly errors: ErrorDefinitions | undefined;
  /** The scopes that callers need. `undefined` if they need none. */
  readonly scopes: readonly string[] | undefined;
  /** Whether the gateway replays its responses. */
  readonly idempotencyKey: IdempotencyKeyUse;
}

/**
 * Reads all procedures of a router in the router's order, including those of lazy routers.
 * @param sample the procedure of the self-test of tRPC
 * @throws {GatewayError} that lists the problems of all procedures
 */
export async function readProcedures(
  router: AnyTRPCRouter,
  sample = createSample(),
): Promise<readonly Procedure[]> {
  // Metadata of a lazy router is available only after loading it, and it may contain further lazy routers.
  for (let loaders = lazyLoaders(router); loaders.length > 0; loaders = lazyLoaders(router)) {
    await Promise.all(loaders.map((loader) => loader.load()));
  }
  const difference = await selfTest(sample);
  if (difference !== undefined) {
    // oxlint-disable-next-line no-console -- the service runs, but slower than it can: the operator should know
    console.error(
      `@petstore/gateway: all procedures are called through tRPC, which is slower, because ${difference}. Use @trpc/server ^11.25.2.`,
    );
  }
  const stagesOf = (procedure: AnyTRPCProcedure) =>
    difference === undefined ? compile(procedure, sample.procedure) : undefined;
  const procedures: Procedure[] = [];
  const problems: string[] = [];
  for (const [path, procedure] of Object.entries(
    router._def.procedures as Record<string, AnyTRPCProcedure>,
  )) {
    try {
      procedures.push(await readProcedure(path, procedure, stagesOf));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new GatewayError(problems.join('\n'));
  return procedures;
}

function lazyLoaders(router: AnyTRPCRouter): readonly { load: () => Promise<void> }[] {
  return Object.values(router._def.lazy);
}

async function readProcedure(
  path: string,
  procedure: AnyTRPCProcedure,
  stagesOf: (procedure: AnyTRPCProcedure) => Executable['stages'],
): Promise<Procedure> {
  const definition = readDefinition(procedure);
  const { type, meta, inputs, output } = definition;
  if (!Array.isArray(inputs)) {
    throw new GatewayError(
      `Procedure "${path}" was created by a version of @trpc/server that the gateway does not support. Use @trpc/server ^11.25.2.`,
    );
  }
  const { openapi } = (meta ?? {}) as { readonly openapi?: RestMeta };
  const stages = stagesOf(procedure);
  const rest = openapi?.enabled === false ? undefined : openapi;
  return {
    path,
    type,
    meta,
    procedure,
    stages,
    execution: stages ? 'compiled' : 'trpc',
    rest,
    inputs,
    output,
    errors: rest && (await readErrors(path, definition)),
    scopes: readScopes(path, checkMetaNames(path, meta)),
    idempotencyKey: readIdempotencyKey(path, type, meta),
    ...readCallLimits(path, meta),
  };
}
