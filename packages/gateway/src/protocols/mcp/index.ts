import { isText, optional, requireOptions, type OptionRules } from '../../checks/optionRules.ts';
import type { McpEndpoint } from '../mcpEndpoint.ts';
import { createMcpProtocol } from './mcpProtocol.ts';
import { readTools } from './tools.ts';

export type { McpEndpoint } from '../mcpEndpoint.ts';

/** Options of `mcp()`. */
export interface McpOptions {
  /** The path at which MCP is served. Default: `/mcp`. */
  readonly path?: `/${string}`;
}

const rules: OptionRules<McpOptions> = {
  path: optional(
    (value) => isText(value) && value.startsWith('/'),
    "a path that starts with a slash, such as mcp({ path: '/tools' })",
  ),
};

/**
 * Serves procedures with `mcp` in their metadata as tools of the Model Context Protocol: Streamable HTTP of the
 * revision 2026-07-28, and of 2025-11-25 and 2025-06-18 without sessions.
 *
 * ```ts
 * const gateway = await createGateway({ router, createContext, document, mcp: mcp() });
 * ```
 * @throws {GatewayError} for an option that is unknown or invalid
 */
export function mcp(options: McpOptions = {}): McpEndpoint {
  requireOptions('mcp', options, rules);
  return {
    path: options.path ?? '/mcp',
    problems: (procedures) => readTools(procedures, Infinity).problems,
    protocol: createMcpProtocol,
  };
}
