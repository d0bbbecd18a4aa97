import {
  isFunction,
  isText,
  optional,
  requireOptions,
  text,
  type OptionRules,
} from '../../checks/optionRules.ts';
import type { DescribedProcedure, GatewayMeta, McpMeta } from '../../procedures/meta.ts';
import { maxResultBytes, type ToolOption } from '../../procedures/readMeta.ts';
import type { McpEndpoint } from '../mcpEndpoint.ts';
import { createMcpProtocol } from './mcpProtocol.ts';
import { defaultMaxResultBytes } from './resultLimit.ts';
import { readTools } from './tools.ts';

export type { McpEndpoint } from '../mcpEndpoint.ts';

/** Options of `mcp()`. `Meta` is the metadata of the router, if it has fields of its own. */
export interface McpOptions<Meta = GatewayMeta> {
  /** The path at which MCP is served. Default: `/mcp`. */
  readonly path?: `/${string}`;
  /**
   * Whether procedures without `mcp` in their metadata are tools too: a function that returns it, or the metadata, for
   * each of them. Default: none of them is a tool.
   * @example
   * tools: ({ path, type }) => type === 'query' && path.startsWith('books.')
   */
  readonly tools?: (procedure: DescribedProcedure<Meta>) => boolean | McpMeta;
  /**
   * How to use the tools together, for the model: clients may add it to the system prompt (MCP 2026-07-28,
   * `server/discover`; before, `initialize`). Default: none.
   * @example
   * instructions: 'Search for a book before you add it.'
   */
  readonly instructions?: string;
  /**
   * The largest result of a tool, in bytes of UTF-8; `mcp.maxResultBytes` in its metadata takes precedence. A list is cut at a
   * whole element, and the model is told how to get the rest. Another result is an error, or a short text after a mutation, which
   * has run. Images and audio do not count. At least 1,000; `Infinity` for no limit but `maxResponseSize`. Default: 80,000, which
   * are some 25,000 tokens, the default limit of Claude Code.
   */
  readonly maxResultBytes?: number;
}

const rules: OptionRules<McpOptions> = {
  path: optional(
    (value) => isText(value) && value.startsWith('/'),
    "a path that starts with a slash, such as mcp({ path: '/tools' })",
  ),
  tools: optional(
    isFunction,
    'a function, such as mcp({ tools: ({ path }) => ({ description: descriptions[path] }) })',
  ),
  instructions: text,
  maxResultBytes,
};

/**
 * Serves procedures with `mcp` in their metadata, and those that `tools` chooses, as tools of the Model Context Protocol:
 * Streamable HTTP of the revision 2026-07-28, and of 2025-11-25 and 2025-06-18 without sessions.
 *
 * ```ts
 * const gateway = await createGateway({ router, createContext, document, mcp: mcp() });
 * ```
 * @throws {GatewayError} for an option that is unknown or invalid
 */
export function mcp<Meta = GatewayMeta>(options: McpOptions<Meta> = {}): McpEndpoint {
  requireOptions('mcp', options, rules);
  const { instructions, maxResultBytes: maxBytes = defaultMaxResultBytes, path = '/mcp', tools } = options;
  return {
    path,
    // The router's own metadata, whose type only the caller knows.
    tools: tools as ToolOption | undefined,
    read(procedures, maxResponseSize) {
      const { problems, tools: served } = readTools(procedures, maxResponseSize, maxBytes);
      return { problems, protocol: (settings) => createMcpProtocol(settings, served, instructions) };
    },
  };
}
