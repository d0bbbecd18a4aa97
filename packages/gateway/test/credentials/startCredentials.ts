import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, bearer, cookie, custom, type Scheme } from 'trpc-gateway';
import { jwt } from 'trpc-gateway/jwt';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import { openShape } from '../startShape.ts';
import { audience, type Issuer } from './issuer.ts';

export interface Caller {
  readonly name: string;
  readonly scopes: readonly string[];
}

const t = initTRPC.context<{ caller: Caller | undefined }>().meta<GatewayMeta>().create();
const reader = t.procedure.meta({ scopes: ['notes:read'] });

export const notesRouter = t.router({
  /** Needs the scope notes:read. */
  notes: reader
    .meta({ openapi: { method: 'GET', path: '/notes' } })
    .output(z.string())
    .query(({ ctx }) => `notes of ${ctx.caller?.name}`),
  /** Needs a credential without a scope. */
  me: t.procedure
    .meta({ openapi: { method: 'GET', path: '/me' } })
    .output(z.string())
    .query(({ ctx }) => ctx.caller?.name ?? 'anonymous'),
  ...Object.fromEntries(
    (['POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => [
      `write${method}`,
      t.procedure
        .meta({ openapi: { method, path: '/notes' } })
        .output(z.string())
        .mutation(() => 'written'),
    ]),
  ),
  ticks: reader
    .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
    .subscription(async function* ({ signal }) {
      for (let tick = 0; ; tick += 1) {
        yield tick;
        await sleep(20, undefined, { signal });
      }
    }),
  slow: t.procedure.query(async ({ signal }) => {
    if (signal && !signal.aborted) await once(signal, 'abort');
    return 'aborted';
  }),
});

/** An authentication scheme: its configuration, the headers of its clients, and its challenges. */
export interface SchemeCase {
  readonly name: string;
  readonly make: (callers: ReadonlyMap<string, Caller>, issuer: Issuer) => Scheme<Caller>;
  readonly headers: (name: string, issuer: Issuer) => Promise<Record<string, string>>;
  readonly malformed: Record<string, string>;
  readonly challenges: { readonly missing: string; readonly invalid: string; readonly scope: string | null };
  readonly document: object;
}

const scopes = (caller: Caller) => caller.scopes;
const bearerChallenges = {
  missing: 'Bearer realm="api"',
  invalid: 'Bearer realm="api", error="invalid_token"',
  scope: 'Bearer realm="api", error="insufficient_scope", scope="notes:read"',
};
const sameChallenge = (challenge: string) => ({ missing: challenge, invalid: challenge, scope: null });

export const schemeCases: readonly SchemeCase[] = [
  {
    name: 'bearer',
    make: (callers) => bearer({ verify: (token) => callers.get(token), scopes }),
    headers: async (name) => ({ authorization: `Bearer ${name}` }),
    malformed: { authorization: 'Bearer two tokens' },
    challenges: bearerChallenges,
    document: { type: 'http', scheme: 'bearer' },
  },
  {
    name: 'apiKey',
    make: (callers) => apiKey({ verify: async (key) => callers.get(key), scopes }),
    headers: async (name) => ({ 'x-api-key': name }),
    malformed: { 'x-api-key': 'two keys' },
    challenges: sameChallenge('ApiKey realm="api", header="X-API-Key"'),
    document: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  },
  {
    name: 'cookie',
    make: (callers) =>
      cookie({
        cookie: '__Host-session',
        proxyRejectsNonAscii: true,
        verify: async (session) => callers.get(session),
        scopes,
      }),
    headers: async (name) => ({ cookie: `theme=dark; __Host-session=${name}` }),
    malformed: { cookie: '__Host-session=one; __Host-session=two' },
    challenges: sameChallenge('Cookie realm="api", cookie-name="__Host-session"'),
    document: { type: 'apiKey', in: 'cookie', name: '__Host-session' },
  },
  {
    name: 'jwt',
    make: (callers, { issuer, jwksUri }) =>
      jwt({ issuer, audience, jwksUri, verify: ({ sub = '' }) => callers.get(sub), scopes }),
    headers: async (sub, issuer) => ({ authorization: `Bearer ${await issuer.sign({ sub })}` }),
    malformed: { authorization: 'Bearer not-a-jwt' },
    challenges: bearerChallenges,
    document: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  },
  {
    name: 'certificate',
    make: (callers) =>
      custom({
        name: 'certificate',
        read(source) {
          const subject = source.header('x-client-subject');
          return subject === undefined || subject.startsWith('CN=') ? subject : null;
        },
        verify: (subject) => callers.get(subject.slice('CN='.length)),
        scopes,
        challenge: 'Certificate realm="api"',
        document: { type: 'mutualTLS' },
      }),
    headers: async (name) => ({ 'x-client-subject': `CN=${name}` }),
    malformed: { 'x-client-subject': 'no common name' },
    challenges: sameChallenge('Certificate realm="api"'),
    document: { type: 'mutualTLS' },
  },
];

/** Serves a gateway with a scheme until its `close()`. Each test adds its own callers. */
export async function openCredentials(scheme: SchemeCase, issuer: Issuer) {
  const callers = new Map<string, Caller>();
  const shape = await openShape<typeof notesRouter, Caller>(notesRouter, {
    authentication: scheme.make(callers, issuer),
    createContext: ({ identity }) => ({ caller: identity }),
  });
  return { callers, ...shape };
}
