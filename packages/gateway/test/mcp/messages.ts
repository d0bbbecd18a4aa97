import type { Server } from '../listen.ts';

export type Revision = '2026-07-28' | '2025-11-25' | '2025-06-18';
export const revisions: readonly Revision[] = ['2026-07-28', '2025-11-25', '2025-06-18'];

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

/** Sends a body as it is. */
export async function post(
  server: Pick<Server, 'fetch' | 'origin'>,
  body: NonNullable<RequestInit['body']>,
  headers: Readonly<Record<string, string>> = {},
  init: RequestInit = {},
): Promise<Reply> {
  const response = await server.fetch(`${server.origin}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
    ...init,
  });
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

interface CallOptions {
  readonly revision?: Revision;
  readonly id?: string | number;
  readonly meta?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly init?: RequestInit;
}

/** Sends a request of a revision. */
export function send(
  server: Pick<Server, 'fetch' | 'origin'>,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { revision = '2026-07-28', id = 1, meta = {}, headers = {}, init = {} }: CallOptions = {},
): Promise<Reply> {
  const isCurrent = revision === '2026-07-28';
  const name = method === 'tools/call' ? String(params['name']) : undefined;
  const _meta = isCurrent ? { ...currentMeta, ...meta } : meta;
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } });
  const own = isCurrent ? currentHeaders(method, name) : { 'mcp-protocol-version': revision };
  return post(server, body, { ...own, ...headers }, init);
}

/** Calls a tool. */
export const call = (
  server: Pick<Server, 'fetch' | 'origin'>,
  name: string,
  args?: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<Reply> =>
  send(server, 'tools/call', { name, ...(args !== undefined && { arguments: args }) }, options);

/** The error of a failed call, which its text has as JSON. */
export function errorOf(reply: Reply): unknown {
  const { content, isError } = reply.message?.result ?? {};
  if (isError !== true) throw new Error(`The call has not failed: ${reply.text}`);
  return JSON.parse((content as [{ readonly text: string }])[0].text);
}
