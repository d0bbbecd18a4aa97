import { createTRPCClient, httpBatchLink, httpBatchStreamLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../../servers.ts';
import { type Issuer, openIssuer } from './issuer.ts';
import { openCredentials, schemeCases, type SchemeCase } from './startCredentials.ts';

// Several schemes, per operation, with scopes: trpc-openapi #239, #290, #295, #302, #370.

const states = ['missing', 'malformed', 'expired', 'wrong scope', 'revoked', 'good'] as const;
type State = (typeof states)[number];

/** What a client sees: a status, or how its WebSocket ended; which challenge; what it received. */
interface Outcome {
  readonly status: number | 'closed 1008';
  readonly challenge?: 'missing' | 'invalid' | 'scope';
  /** Part of what it received. */
  readonly received?: string;
  /** That what it began ended by itself. */
  readonly hasEnded?: boolean;
}

const rejected = {
  missing: { status: 401, challenge: 'missing' },
  malformed: { status: 401, challenge: 'invalid' },
  expired: { status: 401, challenge: 'invalid' },
} as const;
const revoked = { status: 401, challenge: 'invalid' } as const;
const lacks = 'lacks the scope notes:read';
const cutOff = { status: 200, hasEnded: true } as const;
const closed = { status: 'closed 1008' } as const;

/** The table: what a client gets by the protocol, whatever the scheme is. */
const table = {
  REST: {
    ...rejected,
    'wrong scope': { status: 403, challenge: 'scope', received: lacks },
    revoked,
    good: { status: 200, received: '"notes of caller-' },
  },
  tRPC: {
    ...rejected,
    'wrong scope': { status: 403, challenge: 'scope', received: lacks },
    revoked,
    good: { status: 200, received: '{"result":{"data":"notes of caller-' },
  },
  'a batch': {
    ...rejected,
    'wrong scope': { status: 207, challenge: 'scope', received: lacks },
    revoked,
    good: { status: 200, received: '[{"result":{"data":"caller-' },
  },
  'JSON lines': {
    ...rejected,
    // Its head has gone out when a call fails.
    'wrong scope': { status: 200, received: lacks },
    revoked: cutOff,
    good: { status: 200, received: 'notes of caller-' },
  },
  'events over REST': {
    ...rejected,
    'wrong scope': { status: 403, challenge: 'scope', received: lacks },
    revoked: cutOff,
    good: { status: 200, received: 'data: 0' },
  },
  'events over tRPC': {
    ...rejected,
    // As tRPC answers each error of a subscription.
    'wrong scope': { status: 200, received: lacks },
    revoked: cutOff,
    good: { status: 200, received: 'data: 0' },
  },
  'a WebSocket': {
    ...rejected,
    'wrong scope': { status: 101, received: lacks },
    revoked: closed,
    good: { status: 101, received: 'notes of caller-' },
  },
  'a WebSocket’s connection parameters': {
    missing: closed,
    malformed: closed,
    expired: closed,
    'wrong scope': { status: 101, received: lacks },
    revoked: closed,
    good: { status: 101, received: 'notes of caller-' },
  },
  'an EventSource’s connection parameters': {
    ...rejected,
    'wrong scope': { status: 200, received: lacks },
    revoked: cutOff,
    good: { status: 200, received: 'data: 0' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<State, Outcome>>>>;
type Protocol = keyof typeof table;

const targets: Readonly<Partial<Record<Protocol, { readonly path: string; readonly accept?: string }>>> = {
  REST: { path: '/v1/notes' },
  tRPC: { path: '/trpc/notes' },
  'a batch': { path: '/trpc/me,notes?batch=1' },
  'JSON lines': { path: '/trpc/me,notes?batch=1', accept: 'application/jsonl' },
  'events over REST': { path: '/v1/ticks' },
  'events over tRPC': { path: '/trpc/ticks' },
  'an EventSource’s connection parameters': { path: '/trpc/ticks', accept: 'text/event-stream' },
};

describe.each(schemeCases)('$name', (scheme) => {
  let issuer: Issuer;
  let service: Awaited<ReturnType<typeof openCredentials>>;
  beforeAll(async () => {
    issuer = await openIssuer();
    service = await openCredentials([scheme], issuer);
  });
  afterAll(async () => {
    await service.close();
    await issuer.close();
  });

  /** The headers of a caller in a state, and what revokes them. */
  async function credentialIn(
    state: State,
  ): Promise<{ headers: Record<string, string>; revoke: () => void }> {
    if (state === 'missing') return { headers: {}, revoke() {} };
    if (state === 'malformed') return { headers: scheme.malformed, revoke() {} };
    const { callers } = service;
    const isExpired = state === 'expired';
    const scopes = state === 'wrong scope' ? [] : ['notes:read'];
    const name = callers.add({ scopes, ...(isExpired && { expiresInMs: -1000 }) });
    const headers = await scheme.headers(name, { issuer, scopes, isExpired });
    return { headers, revoke: () => callers.revoke(name) };
  }

  const cells = Object.entries(table).flatMap(([protocol, outcomes]) =>
    states.map((state) => [state, protocol as Protocol, outcomes[state] as Outcome] as const),
  );

  /** All cells at once: the watch over credentials in use looks once a second. */
  const outcomes = new Map<string, Promise<object>>();
  beforeAll(() => {
    for (const [state, protocol] of cells) {
      const outcome = outcomeOf(state, protocol);
      // The test of the cell fails with it.
      outcome.catch(() => {});
      outcomes.set(`${state} ${protocol}`, outcome);
    }
  });

  it.each(cells)('%s over %s is %j', async (state, protocol, expected) => {
    if (protocol.includes('WebSocket')) needs('WebSockets');
    const wanted: Outcome = isNone(protocol) ? table[protocol].missing : expected;
    expect(await outcomes.get(`${state} ${protocol}`)).toMatchObject({
      status: wanted.status,
      challenge: wanted.challenge === undefined ? null : scheme.challenges[wanted.challenge],
      ...(wanted.hasEnded && { hasEnded: true }),
      received: expect.stringContaining(wanted.received ?? ''),
    });
  });

  /** A page cannot read a cookie that is HttpOnly: connection parameters with one are no credential. */
  const isNone = (protocol: Protocol) => protocol.endsWith('parameters') && !scheme.isParameter;

  async function outcomeOf(state: State, protocol: Protocol): Promise<object> {
    const { headers, revoke: revokeCaller } = await credentialIn(state);
    const revoke = isNone(protocol) ? () => {} : revokeCaller;
    return protocol.includes('WebSocket')
      ? dial(scheme, service.server, state, protocol.endsWith('parameters'), headers, revoke)
      : request(protocol, state, headers, revoke);
  }

  async function request(
    protocol: Protocol,
    state: State,
    headers: Record<string, string>,
    revoke: () => void,
  ) {
    const { fetch, origin } = service.server;
    const { path = '', accept } = targets[protocol] ?? {};
    const stopping = new AbortController();
    const isRevokedAlive = state === 'revoked' && table[protocol].revoked.status === 200;
    const isByParameters = protocol.endsWith('parameters');
    const target =
      protocol === 'JSON lines' && isRevokedAlive
        ? '/trpc/slow?batch=1'
        : isByParameters
          ? `${path}?connectionParams=${encodeURIComponent(JSON.stringify(headers))}`
          : path;
    const send = () =>
      fetch(`${origin}${target}`, {
        signal: stopping.signal,
        headers: {
          ...(!isByParameters && headers),
          ...(accept !== undefined && { accept, 'trpc-accept': accept }),
        },
      });
    if (state === 'revoked' && !isRevokedAlive) {
      expect((await send()).status).toBe(200);
      revoke();
    }
    const response = await send();
    if (isRevokedAlive) revoke();
    // A stream that goes on ends with the test; one of a revoked credential by itself.
    const isEndless = state === 'good' && /events|EventSource/.test(protocol);
    const received = isEndless ? await firstOf(response) : await response.text();
    stopping.abort();
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      hasEnded: !isEndless,
      received,
    };
  }

  it('is described by the document', () => {
    const { components, paths } = service.document as unknown as Document;
    expect(components.securitySchemes).toEqual({ [scheme.name]: expect.objectContaining(scheme.document) });
    expect(paths['/notes']?.['get']?.security).toEqual([{ [scheme.name]: ['notes:read'] }]);
    expect(paths['/me']?.['get']?.security).toEqual([{ [scheme.name]: [] }]);
    const { 401: unauthorized, 403: forbidden } = paths['/notes']?.['get']?.responses ?? {};
    expect(unauthorized?.headers?.['WWW-Authenticate']).toMatchObject({ required: true });
    expect(forbidden?.description).toBe('The credential lacks a scope: notes:read.');
    expect(forbidden?.headers?.['WWW-Authenticate'] !== undefined).toBe(scheme.challenges.scope !== null);
    expect(paths['/me']?.['get']?.responses).not.toHaveProperty('403');
    const isAmbient = ['cookie', 'basic'].includes(scheme.name);
    for (const method of ['post', 'put', 'patch', 'delete']) {
      expect('403' in (paths['/notes']?.[method]?.responses ?? {})).toBe(isAmbient);
    }
  });

  it('is sent by tRPC’s own client', async () => {
    const { fetch, origin } = service.server;
    const { headers } = await credentialIn('good');
    for (const link of [httpBatchLink, httpBatchStreamLink]) {
      const options = { url: `${origin}/trpc`, fetch: fetch as typeof globalThis.fetch };
      const withCredential = createTRPCClient<never>({
        links: [link({ ...options, headers } as never)],
      }) as unknown as { readonly notes: { query(): Promise<string> } };
      expect(await withCredential.notes.query()).toContain('notes of caller-');
      const without = createTRPCClient<never>({ links: [link(options as never)] }) as typeof withCredential;
      await expect(without.notes.query()).rejects.toMatchObject({ data: { httpStatus: 401 } });
    }
  });
});

interface Document {
  readonly components: { readonly securitySchemes: unknown };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly security: unknown;
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly headers?: Readonly<Record<string, object>> }>
  >;
}

/** What comes first on a stream of events that goes on. */
async function firstOf(response: Response): Promise<string> {
  let received = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    received += decoder.decode(chunk as Uint8Array, { stream: true });
    if (received.includes('data: 0')) break;
  }
  return received;
}

/** Calls `notes` on a WebSocket, and waits for its answer or for what ends it. */
async function dial(
  { isParameter }: SchemeCase,
  server: { readonly origin: string },
  state: State,
  isByParameters: boolean,
  headers: Record<string, string>,
  revoke: () => void,
) {
  needs('WebSockets');
  const url = `${server.origin.replace('http', 'ws')}/trpc${isByParameters ? '?connectionParams=1' : ''}`;
  const socket = new WebSocket(url, isByParameters ? {} : { headers });
  let received = '';
  try {
    return await new Promise<object>((resolve, reject) => {
      const end = (status: Outcome['status'], challenge: string | null = null) =>
        resolve({ status, challenge, hasEnded: true, received });
      socket.on('error', reject);
      socket.on('unexpected-response', (_request, response) => {
        end(response.statusCode ?? 0, response.headers['www-authenticate'] ?? null);
      });
      socket.on('open', () => {
        if (isByParameters) socket.send(JSON.stringify({ method: 'connectionParams', data: headers }));
        socket.send(JSON.stringify({ id: 1, jsonrpc: '2.0', method: 'query', params: { path: 'notes' } }));
      });
      socket.on('close', (code) => end(code === 1008 ? 'closed 1008' : code));
      socket.on('message', (data: Buffer) => {
        received += data.toString();
        if (!/"id":1\b/.test(received)) return;
        if (state === 'revoked') revoke();
        else if (isParameter || !isByParameters) end(101);
      });
    });
  } finally {
    socket.terminate();
  }
}
