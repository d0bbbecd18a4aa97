import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { isObject } from '../http/isObject.ts';
import { readDefinition } from '../procedures/compile.ts';
import type { McpMeta, RestMeta } from '../procedures/meta.ts';
import { loadLazyRouters } from '../procedures/procedure.ts';
import { inferredOutput, type OutputSchemas } from '../schemas/inferredOutput.ts';

/** What the metadata of a router chooses for REST and MCP. If it chooses nothing for one of them, all is served. */
export type Served = Awaited<ReturnType<typeof readServed>>;

/** A procedure, and one of the reasons why it is not served. */
export type Reason = readonly [procedure: string, reason: string];

/** Reads which procedures a router serves over REST and MCP, including those of lazy routers. */
export async function readServed(router: AnyTRPCRouter, outputs: OutputSchemas | undefined) {
  await loadLazyRouters(router);
  const procedures = Object.entries(router._def.procedures as Readonly<Record<string, AnyTRPCProcedure>>).map(
    ([path, procedure]) => {
      const { meta, output, type } = readDefinition(procedure);
      const { openapi, mcp } = (isObject(meta) ? meta : {}) as {
        readonly openapi?: boolean | RestMeta;
        readonly mcp?: boolean | McpMeta;
      };
      const inferred = output ? undefined : inferredOutput(path, outputs);
      return { path, type, openapi, mcp, inferred, isTyped: Boolean(output ?? inferred) };
    },
  );
  const hasRestMetadata = procedures.some(({ openapi }) => isObject(openapi) && openapi.path !== undefined);
  const hasToolMetadata = procedures.some(({ mcp }) => mcp !== undefined);
  const all = (reasonFor: (procedure: (typeof procedures)[number]) => string | undefined) =>
    procedures
      .map((procedure) => [procedure.path, reasonFor(procedure)] as const)
      .filter((each): each is Reason => each[1] !== undefined);
  return {
    count: procedures.length,
    /** The number of procedures without a schema of their outputs. */
    untyped: procedures.filter(({ isTyped }) => !isTyped).length,
    /** Whether some procedure has `openapi` with a path in its metadata: REST then has those with `openapi` alone. */
    hasRestMetadata,
    /** Whether some procedure has `mcp` in its metadata: the tools are then those alone. */
    hasToolMetadata,
    /** What is not served over REST, and what is no tool. */
    leftOut: {
      // The schema of an output (`.output`) is of the iterable, and says nothing about its events.
      rest: all(({ openapi, inferred, type }) =>
        type === 'subscription' && openapi === undefined && inferred === undefined && !hasRestMetadata
          ? 'a subscription, and REST needs the schema of its events: openapi: { event: … }'
          : reasonOf('openapi', openapi, hasRestMetadata),
      ),
      mcp: all(({ mcp }) => reasonOf('mcp', mcp, hasToolMetadata)),
    },
  };
}

function reasonOf(
  name: string,
  meta: boolean | RestMeta | McpMeta | undefined,
  hasMetadata: boolean,
): string | undefined {
  if (meta === undefined) return hasMetadata ? `no ${name} in its metadata, which others have` : undefined;
  return meta === false || (isObject(meta) && meta.enabled === false)
    ? `switched off in its metadata (${name})`
    : undefined;
}
