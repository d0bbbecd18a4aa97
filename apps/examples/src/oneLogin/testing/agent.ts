import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';

function newClient(origin: string, authProvider: OAuthClientProvider) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  onTestFinished(() => client.close());
  return { client, transport: new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { authProvider }) };
}

/** Starts an agent, which asks its user for consent at `authorization`. */
export async function startAgent(origin: string, redirectUrl?: string) {
  const { kept, provider } = agentProvider(redirectUrl);
  const { client, transport } = newClient(origin, provider);
  await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError);
  if (kept.url === undefined) throw new Error('The agent has not redirected its user.');
  return {
    authorization: kept.url,
    /** Connects the agent, after its user has answered. @param callback the URL to which the user was redirected */
    finish: async (callback: URL) => {
      await transport.finishAuth(callback.searchParams);
      const connected = newClient(origin, provider);
      await connected.client.connect(connected.transport);
      const headers = { authorization: `Bearer ${kept.tokens?.access_token}` };
      return { client: connected.client, headers };
    },
  };
}

/** What an agent keeps of its authorization. */
function agentProvider(redirectUrl = 'http://127.0.0.1:8976/callback') {
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
