import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { GatewayError, type Problem } from '../checks/gatewayError.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import type { AnyGatewayOptions } from '../assembly/options.ts';

/** A gateway, and why it does not serve some procedures over REST, or as tools. */
export interface PartialGateway {
  readonly gateway: Gateway;
  readonly leftOut: readonly Problem[];
}

/**
 * Creates a gateway of all that can be served: a procedure that `createGateway` rejects is left out of REST or of MCP, and
 * stays over tRPC.
 * @throws {GatewayError} if something else than a procedure is rejected
 */
export async function createPartialGateway(options: AnyGatewayOptions): Promise<PartialGateway> {
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
  if (problems.length === 0) return router;
  const hidden = Map.groupBy(problems, ({ procedure }) => procedure);
  const procedures = Object.fromEntries(
    Object.entries(router._def.procedures as Readonly<Record<string, AnyTRPCProcedure>>).map(
      ([path, procedure]) => [path, hideParts(procedure, hidden.get(path) ?? [])],
    ),
  );
  return { ...router, _def: { ...router._def, procedures } };
}

function hideParts(procedure: AnyTRPCProcedure, problems: readonly Problem[]): AnyTRPCProcedure {
  if (problems.length === 0) return procedure;
  const parts = new Set(problems.map(({ part }) => part));
  const isUnreadable = parts.has('metadata');
  const meta = {
    ...(isUnreadable ? {} : (procedure._def.meta as object | undefined)),
    ...((isUnreadable || parts.has('rest')) && { openapi: false }),
    ...((isUnreadable || parts.has('mcp')) && { mcp: false }),
  };
  const call = (options: Parameters<AnyTRPCProcedure>[0]) => procedure(options);
  // The procedure itself keeps its metadata, which its middlewares read.
  return Object.assign(call, procedure, { _def: { ...procedure._def, meta } }) as AnyTRPCProcedure;
}
