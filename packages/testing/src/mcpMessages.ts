export type Revision = '2026-07-28' | '2025-11-25' | '2025-06-18';
export const revisions: readonly Revision[] = ['2026-07-28', '2025-11-25', '2025-06-18'];

/** A server, or a gateway in process, which needs no origin. */
interface Server {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly origin?: string;
}

/** A response, with its message or the messages of its stream. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The last message; `undefined` without a body. */
  readonly message: ReplyMessage | undefined;
  readonly messages: readonly ReplyMessage[];
}

interface ReplyMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: object;
}

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: object;
}

/** The metadata of a request of the current revision. */
export const currentMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The headers that mirror a request of the current revision. */
export const currentHeaders = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name !== undefined && { 'mcp-name': name }),
});

const contentHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

interface MessageOptions {
  readonly revision?: Revision;
  readonly id?: string | number;
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the HTTP request of a message. */
export function requestOf(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { revision = '2026-07-28', id = 1, meta = {}, headers = {} }: MessageOptions = {},
) {
  const isCurrent = revision === '2026-07-28';
  const name = method === 'tools/call' ? String(params['name']) : undefined;
  const _meta = isCurrent ? { ...currentMeta, ...meta } : meta;
  const own = isCurrent ? currentHeaders(method, name) : { 'mcp-protocol-version': revision };
  return {
    method: 'POST',
    headers: { ...contentHeaders, ...own, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }),
  };
}

async function replyTo({ fetch, origin = 'http://localhost' }: Server, init: RequestInit): Promise<Reply> {
  const response = await fetch(`${origin}/mcp`, init);
  const text = await response.text();
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const texts = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
    : text
      ? [text]
      : [];
  const messages = texts.map((each) => JSON.parse(each) as ReplyMessage);
  return { status: response.status, headers: response.headers, text, messages, message: messages.at(-1) };
}

/** Sends a body as it is. */
export const post = (
  server: Server,
  body: NonNullable<RequestInit['body']>,
  headers: Readonly<Record<string, string>> = {},
  init: RequestInit = {},
): Promise<Reply> =>
  replyTo(server, { method: 'POST', headers: { ...contentHeaders, ...headers }, body, ...init });

type CallOptions = MessageOptions & { readonly init?: RequestInit };

/** Sends a request of a revision. */
export const send = (
  server: Server,
  method: string,
  params?: Readonly<Record<string, unknown>>,
  { init, ...options }: CallOptions = {},
): Promise<Reply> => replyTo(server, { ...requestOf(method, params, options), ...init });

/** Calls a tool. */
export const call = (
  server: Server,
  name: string,
  args?: object,
  options: CallOptions = {},
): Promise<Reply> =>
  send(server, 'tools/call', { name, ...(args !== undefined && { arguments: args }) }, options);

export const callTool = async (...args: Parameters<typeof call>): Promise<ToolResult> =>
  (await call(...args)).message?.result as unknown as ToolResult;

export const listTools = async (server: Server, options?: CallOptions): Promise<readonly ListedTool[]> =>
  (await send(server, 'tools/list', {}, options)).message?.result?.['tools'] as readonly ListedTool[];

/** The error of a failed call, which its text has as JSON. */
export function errorOf(reply: Reply): unknown {
  const { content, isError } = reply.message?.result ?? {};
  if (isError !== true) throw new Error(`The call has not failed: ${reply.text}`);
  return JSON.parse((content as [{ readonly text: string }])[0].text);
}
