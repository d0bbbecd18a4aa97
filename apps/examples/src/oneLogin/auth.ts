import type { DatabaseSync } from 'node:sqlite';
import { apiKey } from '@better-auth/api-key';
import { oauthProvider } from '@better-auth/oauth-provider';
import { betterAuth, type BetterAuthOptions, type BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import { getMigrations } from 'better-auth/db/migration';
import { jwt, organization } from 'better-auth/plugins';
import { z } from 'zod';

const scopes = ['notes:read', 'notes:write'] as const;

/** The scopes of the members of an organization, by their role. */
const scopesByRole: Readonly<Record<string, readonly string[]>> = {
  owner: scopes,
  admin: scopes,
  member: ['notes:read'],
};

/** Who calls, by whichever credential: a person, an agent of a person, or a program with a key of an organization. */
export interface Caller {
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

export interface AuthOptions {
  /** The origin that browsers and clients see, such as `https://notes.example`. */
  readonly origin: string;
  /** Signs sessions, and encrypts the keys that sign tokens. At least 32 random characters. */
  readonly secret: string;
  readonly database: DatabaseSync;
}

/** Registers loopback agents as native: before 2026-07-28 they do not say so, and web clients need https. */
const nativeAgents = createAuthMiddleware(async ({ path, body }) => {
  const client = Registration.safeParse(body).data;
  if (path !== '/oauth2/register' || client === undefined) return undefined;
  return { context: { body: { ...client, application_type: 'native' } } };
});

const Registration = z.looseObject({
  application_type: z.undefined().optional(),
  redirect_uris: z.array(z.string().regex(/^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/)).min(1),
});

/** Opens Better Auth, which has the users, organizations and keys, and is the authorization server of agents. */
export async function openAuth({ origin, secret, database }: AuthOptions) {
  const tools = `${origin}/mcp`;
  const agents = oauthProvider({
    loginPage: '/sign-in',
    consentPage: '/consent',
    scopes: [...scopes, 'offline_access'],
    // A token is for these tools alone (RFC 8707).
    resources: [tools],
    clientRegistrationDefaultResources: [tools],
    // Agents register themselves (RFC 7591), before their user signs in.
    allowDynamicClientRegistration: true,
    allowUnauthenticatedClientRegistration: true,
    // No agent acts for itself.
    grantTypes: ['authorization_code', 'refresh_token'],
    accessTokenExpiresIn: 600,
  });
  const options = {
    baseURL: origin,
    secret,
    database,
    telemetry: { enabled: false },
    logger: {
      log(level, message, ...details) {
        // A wrong key is no error of the service.
        if (!message.startsWith('Failed to validate API key')) console[level](message, ...details);
      },
    },
    emailAndPassword: { enabled: true },
    hooks: { before: nativeAgents },
    plugins: [
      organization(),
      // The gateway limits calls. By default, the plugin allows a key 10 of them a day.
      apiKey({ references: 'organization', defaultPrefix: 'org_', rateLimit: { enabled: false } }),
      // Signs access tokens.
      jwt(),
      agents as BetterAuthPlugin, // its type does not fit with `exactOptionalPropertyTypes`
    ],
  } satisfies BetterAuthOptions;
  await (await getMigrations(options)).runMigrations();
  const auth = betterAuth(options);
  const { adapter, authCookies } = await auth.$context;
  const sessionCookie = authCookies.sessionToken.name;

  /** Returns a user as a member of an organization. In this service, a user has one. */
  async function memberOf(userId: string): Promise<Caller | undefined> {
    type Member = { readonly organizationId: string; readonly role: string };
    const where = [{ field: 'userId', value: userId }];
    const member = await adapter.findOne<Member>({ model: 'member', where });
    if (member === null) return undefined;
    return { id: userId, organizationId: member.organizationId, scopes: scopesByRole[member.role] ?? [] };
  }

  return {
    auth,
    tools,
    issuer: `${origin}/api/auth`,
    sessionCookie,
    /** Returns the person with a session. */
    bySession: async (value: string): Promise<Caller | undefined> => {
      const headers = new Headers({ cookie: `${sessionCookie}=${value}` });
      const session = await auth.api.getSession({ headers });
      return session === null ? undefined : memberOf(session.user.id);
    },
    /** Returns the program with a key, such as `org_…`. */
    byKey: async (value: string): Promise<Caller | undefined> => {
      const { key } = await auth.api.verifyApiKey({ body: { key: value } });
      if (key === null) return undefined;
      const permissions: Readonly<Record<string, readonly string[]>> = key.permissions ?? {};
      const allowed = scopes.filter((scope) => {
        const [resource = '', action = ''] = scope.split(':');
        return permissions[resource]?.includes(action);
      });
      return { id: key.id, organizationId: key.referenceId, scopes: allowed };
    },
    /**
     * Returns an agent by the claims of its token. It may do what its user has consented to, as long as the user may do
     * it: a user who leaves the organization takes the agent along, before the token expires.
     */
    byToken: async ({ sub, scope }: { readonly sub: string; readonly scope?: unknown }) => {
      const member = await memberOf(sub);
      const granted = typeof scope === 'string' ? scope.split(' ') : [];
      return member && { ...member, scopes: member.scopes.filter((each) => granted.includes(each)) };
    },
  };
}
