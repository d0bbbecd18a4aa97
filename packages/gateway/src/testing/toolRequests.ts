import type { Gateway } from '../gateway.ts';

/** The entry of a tool in the list. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: object;
}

/** The result of a call. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface MessageOptions {
  /** Whether it is of the revision 2025-11-25, and not of 2026-07-28. */
  readonly isOlder?: boolean;
  readonly id?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
}

const version = '2026-07-28';
const currentMeta = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** Sends a request to `/mcp`. */
export function post(
  { fetch }: Pick<Gateway, 'fetch'>,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { headers = {}, id = 1, isOlder = false }: MessageOptions = {},
): Promise<Response> {
  const { name, _meta } = params;
  const current = {
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
  const meta = { ...(_meta as object | undefined), ...(!isOlder && currentMeta) };
  return fetch('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(!isOlder && current), ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  });
}

/** Sends a request to `/mcp`, and returns its result, which is the last event of a stream. */
export async function sendMessage(...request: Parameters<typeof post>): Promise<unknown> {
  const text = await (await post(...request)).text();
  const [, last = text] = [...text.matchAll(/^data: (.*)$/gm)].at(-1) ?? [];
  return (JSON.parse(last) as { readonly result?: unknown }).result;
}

export async function listTools(gateway: Pick<Gateway, 'fetch'>): Promise<readonly ListedTool[]> {
  return ((await sendMessage(gateway, 'tools/list')) as { readonly tools: readonly ListedTool[] }).tools;
}

export async function callTool(
  gateway: Pick<Gateway, 'fetch'>,
  name: string,
  args?: object,
  options?: MessageOptions,
): Promise<ToolResult> {
  return (await sendMessage(gateway, 'tools/call', { name, arguments: args }, options)) as ToolResult;
}
