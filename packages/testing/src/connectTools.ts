import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';

export interface ToolsOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 2025-11-25. */
  readonly revision?: '2026-07-28' | undefined;
  /** Sends its requests. Default: `fetch` */
  readonly fetch?: FetchLike;
}

/** Connects the official client of MCP to the tools of a server, until the test ends. */
export async function connectTools(
  origin: string,
  { headers, revision, ...send }: ToolsOptions,
): Promise<Client> {
  const options = revision && { versionNegotiation: { mode: { pin: revision } } };
  const client = new Client({ name: 'agent', version: '1.0.0' }, options);
  onTestFinished(() => client.close());
  const url = new URL(`${origin}/mcp`);
  const transport = { ...(headers && { requestInit: { headers } }), ...send };
  await client.connect(new StreamableHTTPClientTransport(url, transport));
  return client;
}
