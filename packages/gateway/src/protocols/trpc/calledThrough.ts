import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { ProcedureOptions } from '../../policies/calls.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';

/**
 * A router whose procedures are called through `call`: tRPC's handlers look them up in `_def.procedures`, lazy ones too,
 * since they are all loaded by now, and read nothing else of it but `_def` (@trpc/server 11.25).
 */
export function calledThrough<Router extends AnyTRPCRouter>(
  router: Router,
  call: (procedure: AnyTRPCProcedure, options: ProcedureOptions) => Promise<unknown>,
): Router {
  const procedures = new Proxy(router._def.procedures as Record<string, AnyTRPCProcedure>, {
    get(all, path) {
      // tRPC asks for whatever a client names, and takes what is not a procedure's own for nothing.
      const procedure = Object.hasOwn(all, path) ? all[String(path)] : undefined;
      if (procedure === undefined) return undefined;
      return Object.assign((options: ProcedureOptions) => call(procedure, options), {
        _def: procedure._def,
      });
    },
  });
  return withDefinition(router, { procedures });
}

/**
 * A router that takes no input nested deeper than so many levels. tRPC's handlers for HTTP deserialize each input by the
 * router's transformer, and what that throws is the answer (@trpc/server 11.25). Not in `getRawInput`: it would make the
 * calls with an input a turn later than the others, and the lines of a stream another order than the adapter's.
 */
export function withShallowInputs<Router extends AnyTRPCRouter>(
  router: Router,
  maxJsonDepth: number,
): Router {
  const { _config } = router._def;
  const { input } = _config.transformer;
  const deserialize = (serialized: unknown): unknown => {
    if (isDeeper(serialized, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return input.deserialize(serialized);
  };
  const transformer = { ..._config.transformer, input: { ...input, deserialize } };
  return withDefinition(router, { _config: { ..._config, transformer } });
}

/** Not a copy of the router, which has a member for each procedure: one is made for every request. */
const withDefinition = <Router extends AnyTRPCRouter>(
  router: Router,
  definition: Partial<AnyTRPCRouter['_def']>,
): Router => Object.assign(Object.create(router) as Router, { _def: { ...router._def, ...definition } });
