import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Headers } from './newNotes.ts';

/** Connects the official client of MCP. */
export async function connect(
  origin: string,
  options: { authProvider: OAuthClientProvider } | { headers: Headers },
) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(
    new URL(`${origin}/mcp`),
    'headers' in options ? { requestInit: options } : options,
  );
  onTestFinished(() => client.close());
  return { client, transport, connecting: client.connect(transport) };
}

/** What an agent keeps of its authorization. */
export function agentProvider(redirectUrl = 'http://127.0.0.1:8976/callback') {
  const kept: {
    url?: URL;
    client?: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
    tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
    verifier?: string;
    discovery?: OAuthDiscoveryState;
  } = {};
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Test agent',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'the-state',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void (kept.url = url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? '',
    saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
    discoveryState: () => kept.discovery,
  };
  return { kept, provider };
}
