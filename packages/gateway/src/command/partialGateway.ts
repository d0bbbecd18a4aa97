import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { GatewayError, type Problem } from '../checks/gatewayError.ts';
import { createGateway } from '../gateway.ts';
import type { AnyGatewayOptions } from '../assembly/options.ts';

/**
 * Creates a gateway. A procedure that `createGateway` rejects stays on tRPC, and is one of `leftOut` with the reason.
 * @throws {GatewayError} for other problems
 */
export async function createPartialGateway(options: AnyGatewayOptions) {
  const leftOut: Problem[] = [];
  for (;;) {
    try {
      const router = hideProcedures(options.router, leftOut);
      return { gateway: await createGateway<AnyTRPCRouter, unknown>({ ...options, router }), leftOut };
    } catch (error) {
      // All parts of a procedure that cannot be served are found at once.
      const found = error instanceof GatewayError ? error.problems : [];
      const added = found.filter((each) => leftOut.every(({ procedure }) => procedure !== each.procedure));
      if (added.length === 0) throw error;
      leftOut.push(...added);
    }
  }
}

/** Returns a router whose metadata switches off what cannot be served. The router itself stays as it is. */
function hideProcedures(router: AnyTRPCRouter, problems: readonly Problem[]): AnyTRPCRouter {
  const procedures = { ...(router._def.procedures as Record<string, AnyTRPCProcedure>) };
  for (const { part, procedure: path } of problems) {
    const hidden = procedures[path];
    if (hidden) procedures[path] = hidePart(hidden, part);
  }
  return { ...router, _def: { ...router._def, procedures } };
}

function hidePart(procedure: AnyTRPCProcedure, part: Problem['part']): AnyTRPCProcedure {
  const meta = {
    ...(part !== 'metadata' && (procedure._def.meta as object | undefined)),
    ...(part !== 'mcp' && { openapi: false }),
    ...(part !== 'rest' && { mcp: false }),
  };
  const call = (options: Parameters<AnyTRPCProcedure>[0]) => procedure(options);
  // The procedure itself keeps its metadata, which its middlewares read.
  return Object.assign(call, procedure, { _def: { ...procedure._def, meta } }) as AnyTRPCProcedure;
}
