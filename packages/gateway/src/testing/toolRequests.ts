import type { Gateway } from '../gateway.ts';

/** The entry of a tool in the list. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

/** The result of a call. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** Sends a request of the current revision to `/mcp`, and returns its result. */
export async function sendMessage(
  { fetch }: Pick<Gateway, 'fetch'>,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const version = '2026-07-28';
  const _meta = { [versionKey]: version, [capabilitiesKey]: {} };
  const response = await fetch('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof params['name'] === 'string' && { 'mcp-name': params['name'] }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  return ((await response.json()) as { readonly result?: unknown }).result;
}

export async function listTools(gateway: Pick<Gateway, 'fetch'>): Promise<readonly ListedTool[]> {
  return ((await sendMessage(gateway, 'tools/list')) as { readonly tools: readonly ListedTool[] }).tools;
}

export async function callTool(
  gateway: Pick<Gateway, 'fetch'>,
  name: string,
  args?: object,
): Promise<ToolResult> {
  return (await sendMessage(gateway, 'tools/call', { name, arguments: args })) as ToolResult;
}
