import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../servers.ts';
import { type Issuer, openIssuer } from './issuer.ts';
import { openCredentials, schemeCases, type SchemeCase } from './startCredentials.ts';

// Several schemes, per operation, with scopes: trpc-openapi #239, #290, #295, #302, #370.

const states = ['missing', 'malformed', 'unknown', 'out of scope', 'revoked', 'valid'] as const;
type State = (typeof states)[number];

interface Outcome {
  /** The status of the response, or the close code of a WebSocket. */
  readonly status: number | 'closed 1008';
  readonly challenge?: 'missing' | 'invalid' | 'scope';
  /** A part of the received body or messages. */
  readonly received?: string;
  /** Whether the stream has ended without the client. */
  readonly hasEnded?: boolean;
}

const invalid: Outcome = { status: 401, challenge: 'invalid' };
const rejected = { missing: { status: 401, challenge: 'missing' }, malformed: invalid, unknown: invalid };
const closed: Outcome = { status: 'closed 1008' };
const forbidden: Outcome = { status: 403, challenge: 'scope' };
const streamEnds: Outcome = { status: 200, hasEnded: true };

const outcomesOf = (
  outOfScope: Outcome,
  revoked: Outcome,
  valid: Outcome,
  others: Pick<Record<State, object>, 'missing' | 'malformed' | 'unknown'> = rejected,
) => {
  const received = 'does not have the required scope notes:read';
  return { ...others, 'out of scope': { ...outOfScope, received }, revoked, valid } as Record<State, Outcome>;
};
const result = '{"result":{"data":"';

const expectedOutcomes = {
  REST: outcomesOf(forbidden, invalid, { status: 200, received: '"notes of caller-' }),
  tRPC: outcomesOf(forbidden, invalid, { status: 200, received: `${result}notes of caller-` }),
  'a batch': outcomesOf({ ...forbidden, status: 207 }, invalid, {
    status: 200,
    received: `[${result}caller-`,
  }),
  // The status is sent before a call fails.
  'JSON lines': outcomesOf({ status: 200 }, streamEnds, { status: 200, received: 'notes of caller-' }),
  'events over REST': outcomesOf(
    forbidden,
    { ...streamEnds, received: 'UNAUTHORIZED' },
    { status: 200, received: 'data: 0' },
  ),
  // tRPC sends errors of a subscription as events.
  'events over tRPC': outcomesOf({ status: 200 }, streamEnds, { status: 200, received: 'data: 0' }),
  'a WebSocket': outcomesOf({ status: 101 }, closed, { status: 101, received: 'notes of caller-' }),
  'a WebSocket’s connection parameters': outcomesOf(
    { status: 101 },
    closed,
    { status: 101, received: 'notes of caller-' },
    { missing: closed, malformed: closed, unknown: closed },
  ),
  'an EventSource’s connection parameters': outcomesOf({ status: 200 }, streamEnds, {
    status: 200,
    received: 'data: 0',
  }),
};
type Protocol = keyof typeof expectedOutcomes;

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
    service = await openCredentials(scheme, issuer);
  });
  afterAll(async () => {
    await service.close();
    await issuer.close();
  });

  /** The headers of a new caller in a state, and a function that revokes them. */
  async function credentialIn(
    state: State,
  ): Promise<{ headers: Record<string, string>; revoke: () => void }> {
    if (state === 'missing') return { headers: {}, revoke() {} };
    if (state === 'malformed') return { headers: scheme.malformed, revoke() {} };
    const { callers } = service;
    const scopes = state === 'out of scope' ? [] : ['notes:read'];
    const name = `caller-${crypto.randomUUID()}`;
    if (state !== 'unknown') callers.set(name, { name, scopes });
    return { headers: await scheme.headers(name, issuer), revoke: () => void callers.delete(name) };
  }

  const cells = Object.entries(expectedOutcomes).flatMap(([protocol, outcomes]) =>
    states.map((state) => [state, protocol as Protocol, outcomes[state]] as const),
  );

  /** All requests run at once, because credentials in use are verified once a second. */
  const outcomes = new Map<string, Promise<object>>();
  beforeAll(() => {
    for (const [state, protocol] of cells) {
      const outcome = outcomeOf(state, protocol);
      // The test of this cell awaits it.
      outcome.catch(() => {});
      outcomes.set(`${state} ${protocol}`, outcome);
    }
  });

  it.each(cells)(
    `${scheme.name}: a credential that is %s, over %s, results in %j`,
    async (state, protocol, expected) => {
      if (protocol.includes('WebSocket')) needs('WebSockets');
      const outcome: Outcome = isIgnored(protocol) ? expectedOutcomes[protocol].missing : expected;
      expect(await outcomes.get(`${state} ${protocol}`)).toMatchObject({
        status: outcome.status,
        challenge: outcome.challenge === undefined ? null : scheme.challenges[outcome.challenge],
        ...(outcome.hasEnded && { hasEnded: true }),
        received: expect.stringContaining(outcome.received ?? ''),
      });
    },
  );

  /** Connection parameters with a cookie are not a credential: a page cannot read a cookie that is HttpOnly. */
  const isIgnored = (protocol: Protocol) => protocol.endsWith('parameters') && scheme.name === 'cookie';

  async function outcomeOf(state: State, protocol: Protocol): Promise<object> {
    const { headers, revoke: revokeCaller } = await credentialIn(state);
    const revoke = isIgnored(protocol) ? () => {} : revokeCaller;
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
    const isRevokedAlive = state === 'revoked' && expectedOutcomes[protocol].revoked.status === 200;
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
    // The stream of a revoked credential ends by itself, and the test ends the others.
    const isEndless = state === 'valid' && /events|EventSource/.test(protocol);
    const received = isEndless ? await firstOf(response) : await response.text();
    stopping.abort();
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      hasEnded: !isEndless,
      received,
    };
  }

  // Other responses are in packages/gateway/src/openapi/documentedResponses.test.ts.
  it(`the document describes ${scheme.name}, the operations that need it, and the 403 of those that a page can forge with it`, () => {
    const { components, paths } = service.document;
    expect(components.securitySchemes).toEqual({ [scheme.name]: expect.objectContaining(scheme.document) });
    expect(paths['/notes']?.['get']?.security).toEqual([{ [scheme.name]: ['notes:read'] }]);
    expect(paths['/me']?.['get']?.security).toEqual([{ [scheme.name]: [] }]);
    const isAmbient = ['cookie', 'certificate'].includes(scheme.name);
    for (const method of ['post', 'put', 'patch', 'delete']) {
      expect('403' in (paths['/notes']?.[method]?.responses ?? {})).toBe(isAmbient);
    }
  });
});

/** Reads an endless stream of events until its first event. */
async function firstOf(response: Response): Promise<string> {
  let received = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    received += decoder.decode(chunk as Uint8Array, { stream: true });
    if (received.includes('data: 0')) break;
  }
  return received;
}

/** Calls `notes` on a WebSocket. Resolves with the response, or with the close code. */
async function dial(
  { name }: SchemeCase,
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
        else if (name !== 'cookie' || !isByParameters) end(101);
      });
    });
  } finally {
    socket.terminate();
  }
}
