import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

/**
 * Connects the official client of MCP to the tools of a server, in the current revision.
 * @param send sends its requests. Default: `fetch`
 */
export async function connectTools(
  origin: string,
  send?: (url: string, init?: RequestInit) => Promise<Response>,
) {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const own = send && { fetch: (url: string | URL, init?: RequestInit) => send(url.toString(), init) };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), own));
  return client;
}
