import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { mayBeAsync } from './asyncOutput.ts';
import { compile, readDefinition } from './compile.ts';
import type { Executable } from './execute.ts';
import { GatewayError, type Problem } from '../checks/gatewayError.ts';
import { warn } from '../http/warnings.ts';
import type { ErrorDefinitions } from './declareErrors.ts';
import type { GatewayMeta } from './meta.ts';
import { readErrors } from './readErrors.ts';
import { readMeta, type ProcedureMeta, type ServedOptions } from './readMeta.ts';
import { inferredOutput, mismatchOf, type OutputSchemas } from '../schemas/inferredOutput.ts';
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
export interface Procedure extends ServedProcedure, Executable, ProcedureMeta {
  /** As `.meta()` set it, with further fields of the router. */
  readonly meta: GatewayMeta | undefined;
  readonly inputs: readonly unknown[];
  /** Its output parser, or, without one, what its types say (`InferredOutput`). */
  readonly output: unknown;
  /** The declared errors. `undefined` if the procedure has no formatter in `.errors()`, or is served over tRPC only. */
  readonly errors: ErrorDefinitions | undefined;
  /** Whether an output may be an async iterable, or have one or a promise in it, as far as its schema says. */
  readonly mayReturnAsync: boolean;
}

/** The procedures of a router in its order, and the problems in the metadata of others. */
export interface Procedures {
  readonly procedures: readonly Procedure[];
  readonly problems: readonly Problem[];
}

/** Loads the lazy routers of a router, whose procedures it has only then. They may contain further ones. */
export async function loadLazyRouters({ _def }: AnyTRPCRouter): Promise<void> {
  for (let lazy = Object.values(_def.lazy); lazy.length > 0; lazy = Object.values(_def.lazy))
    await Promise.all(lazy.map((loader) => loader.load()));
}

/** Includes lazy routers. `options`: which procedures REST serves, or are tools, without metadata. */
export async function readProcedures(
  router: AnyTRPCRouter,
  { outputs, ...options }: ServedOptions & { readonly outputs?: OutputSchemas | undefined } = {},
  sample = createSample(),
): Promise<Procedures> {
  await loadLazyRouters(router);
  const difference = await selfTest(sample);
  if (difference !== undefined) {
    warn(
      `all procedures are called through tRPC, which is slower, because ${difference}. Use @trpc/server ^11.0.0; with that version, report this line as a defect of trpc-gateway.`,
    );
  }
  const procedures: Procedure[] = [];
  const problems: Problem[] = [];
  for (const [path, procedure] of Object.entries(
    router._def.procedures as Record<string, AnyTRPCProcedure>,
  )) {
    const definition = readDefinition(procedure);
    const { type, inputs, output } = definition;
    // `readMeta` checks its fields.
    const meta = definition.meta as GatewayMeta | undefined;
    try {
      const inferred = output ? undefined : inferredOutput(path, outputs);
      const metadata = readMeta({ path, type, meta }, options, inferred !== undefined);
      const stages = difference === undefined ? compile(procedure, sample.procedure) : undefined;
      procedures.push({
        path,
        type,
        meta,
        procedure,
        stages,
        execution: stages ? 'compiled' : 'trpc',
        inputs,
        output: output ?? inferred,
        mayReturnAsync: type === 'subscription' || mayBeAsync(output),
        ...metadata,
        errors: metadata.rest || metadata.mcp ? await readErrors(path, definition) : undefined,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const lines = error.message.split('\n');
      problems.push(...lines.map((line) => ({ procedure: path, part: 'metadata', line }) as const));
    }
  }
  const mismatch = outputs && mismatchOf(outputs, router._def.procedures);
  if (mismatch !== undefined) warn(mismatch);
  return { procedures, problems };
}
