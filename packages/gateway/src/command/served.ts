import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import { isObject } from '../http/isObject.ts';
import { readDefinition } from '../procedures/compile.ts';
import type { McpMeta, RestMeta } from '../procedures/meta.ts';

/** What the metadata of a router chooses for REST and MCP. If it chooses nothing for one of them, all is served. */
export interface Served {
  readonly procedures: readonly ServedByMetadata[];
  /** Whether some procedure has `openapi` with a path in its metadata: REST then has those with `openapi` alone. */
  readonly hasRestMetadata: boolean;
  /** Whether some procedure has `mcp` in its metadata: the tools are then those alone. */
  readonly hasToolMetadata: boolean;
}

interface ServedByMetadata {
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** Whether it has a schema of its output. */
  readonly hasOutput: boolean;
  /** Why it is not served over REST; `undefined` if it is. */
  readonly notRest: string | undefined;
  /** Why it is no tool; `undefined` if it is. */
  readonly notTool: string | undefined;
}

/** Reads which procedures a router serves over REST and MCP, including those of lazy routers. */
export async function readServed(router: AnyTRPCRouter): Promise<Served> {
  while (Object.keys(router._def.lazy).length > 0) {
    await Promise.all(Object.values(router._def.lazy).map((loader) => loader.load()));
  }
  const procedures = Object.entries(router._def.procedures as Readonly<Record<string, AnyTRPCProcedure>>).map(
    ([path, procedure]) => {
      const { meta, output, type } = readDefinition(procedure);
      const { openapi, mcp } = (isObject(meta) ? meta : {}) as {
        readonly openapi?: boolean | RestMeta;
        readonly mcp?: boolean | McpMeta;
      };
      return { path, type, hasOutput: output !== undefined, openapi, mcp };
    },
  );
  const hasRestMetadata = procedures.some(({ openapi }) => isObject(openapi) && openapi.path !== undefined);
  const hasToolMetadata = procedures.some(({ mcp }) => mcp !== undefined);
  return {
    hasRestMetadata,
    hasToolMetadata,
    procedures: procedures.map(({ path, type, hasOutput, openapi, mcp }) => ({
      path,
      type,
      hasOutput,
      notRest: reasonOf('openapi', openapi, hasRestMetadata) ?? eventReason(type, openapi),
      notTool: reasonOf('mcp', mcp, hasToolMetadata),
    })),
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

/** `openapi: true` leaves out subscriptions, since only metadata has the schema of their events. */
const eventReason = (type: ServedByMetadata['type'], openapi: boolean | RestMeta | undefined) =>
  type === 'subscription' && openapi === undefined
    ? 'a subscription, and REST needs the schema of its events: openapi: { event: … }'
    : undefined;
