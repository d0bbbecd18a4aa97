import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import type { WSSHandlerOptions } from '@trpc/server/adapters/ws';
import { expectTypeOf, test } from 'vitest';
import type { Fetch } from './adapters/fetch/fetch.ts';
import { createGateway } from './gateway.ts';
import { apiKey } from './auth/schemes/apiKey.ts';
import { bearer } from './auth/schemes/bearer.ts';
import { jwt, type AccessTokenClaims, type JwtClaims } from './auth/schemes/jwt.ts';
import type { Policy } from './calls/policy.ts';
import type { Scheme } from './calls/scheme.ts';
import type { GatewayMeta } from './procedures/meta.ts';
import { mcp } from './protocols/mcp/index.ts';
import type { SocketOptions } from './protocols/trpc/options.ts';

test('SocketOptions has the same types as the options of tRPC’s own WebSocket adapter', () => {
  type TrpcOptions = WSSHandlerOptions<AnyTRPCRouter>;
  expectTypeOf<SocketOptions>().toEqualTypeOf<Readonly<Pick<TrpcOptions, 'keepAlive'>>>();
});

test('createContext infers the type of data from the policies', async () => {
  interface Data {
    tenant: string;
    trace: number;
  }
  const tenants: Policy<unknown, Data> = { admit: ({ data }) => void (data.tenant = 'red') };
  const traces: Policy<unknown, Data> = { admit: ({ data }) => void (data.trace = 1) };
  await createGateway({
    router: initTRPC.create().router({}),
    // One without data fits beside those with data.
    policies: [tenants, traces, { complete: (_context, response) => response.header('x-a', '1') }],
    createContext({ data }) {
      expectTypeOf(data.tenant).toEqualTypeOf<string | undefined>();
      expectTypeOf(data.trace).toEqualTypeOf<number | undefined>();
      return {};
    },
    document: { title: 'Types', version: '0.0.0' },
  });
});

test('createContext infers the type of identity from the schemes', async () => {
  const served = { router: initTRPC.create().router({}), document: { title: 'Types', version: '0.0.0' } };
  const users = new Map([['a', { user: 'Ada' }]]);
  const services = new Map([['b', { service: 'cron' }]]);
  const byToken = bearer({ verify: async (token) => users.get(token) });
  type Caller = { readonly user: string } | { readonly service: string };
  await createGateway({
    ...served,
    authentication: byToken,
    createContext({ identity }) {
      expectTypeOf(identity).toEqualTypeOf<{ user: string } | undefined>();
      return {};
    },
  });
  await createGateway({
    ...served,
    // All schemes of a list return the same type.
    authentication: [
      bearer<Caller>({ verify: (token) => users.get(token) }),
      apiKey<Caller>({ verify: (key) => services.get(key) }),
    ],
    createContext({ identity }) {
      expectTypeOf(identity).toEqualTypeOf<Caller | undefined>();
      return {};
    },
  });
});

test('jwt is a scheme of the claims, or of what verify returns', () => {
  const issued = { issuer: 'a', audience: 'b', jwksUri: 'https://a.example/jwks' };
  expectTypeOf(jwt(issued)).toEqualTypeOf<Scheme<JwtClaims>>();
  expectTypeOf(jwt({ ...issued, type: 'at+jwt' })).toEqualTypeOf<Scheme<AccessTokenClaims>>();
  type User = { user: string };
  expectTypeOf(jwt({ ...issued, type: 'at+jwt', verify: ({ sub }) => ({ user: sub }) })).toEqualTypeOf<
    Scheme<User>
  >();
  expectTypeOf(jwt({ ...issued, type: 'jwt', verify: ({ sub }) => ({ user: sub }) })).toEqualTypeOf<
    Scheme<{ user: string | undefined }>
  >();
  expectTypeOf(jwt<User>({ ...issued, verify: ({ sub = '' }) => ({ user: sub }) })).toEqualTypeOf<
    Scheme<User>
  >();
});

test('tools of mcp() sees the metadata of procedures with the type that it is given', async () => {
  interface Meta extends GatewayMeta {
    readonly docs?: string;
  }
  const endpoint = mcp<Meta>({
    tools({ meta, path, type }) {
      expectTypeOf(meta).toEqualTypeOf<Meta | undefined>();
      return path !== 'a' && type === 'query' && { description: meta?.docs ?? '' };
    },
  });
  await createGateway({
    router: initTRPC.meta<Meta>().create().router({}),
    createContext: () => ({}),
    document: { title: 'Types', version: '0.0.0' },
    mcp: endpoint,
  });
  mcp({ tools: ({ meta }) => meta?.openapi !== undefined });
  // @ts-expect-error -- a tool has no path
  mcp({ tools: () => ({ path: '/a' }) });
});

test('the option openapi sees the metadata of procedures with the type of the router', async () => {
  const t = initTRPC.meta<GatewayMeta & { readonly rest?: `/${string}` }>().create();
  await createGateway({
    router: t.router({}),
    createContext: () => ({}),
    openapi({ meta, path, type }) {
      expectTypeOf(meta?.rest).toEqualTypeOf<`/${string}` | undefined>();
      expectTypeOf(path).toEqualTypeOf<string>();
      expectTypeOf(type).toEqualTypeOf<'query' | 'mutation' | 'subscription'>();
      return meta?.rest !== undefined && { path: meta.rest };
    },
    document: { title: 'Types', version: '0.0.0' },
  });
});

test('a policy sees the metadata of procedures with its type', () => {
  const policy: Policy = {
    admit({ procedures }) {
      expectTypeOf(procedures[0]?.meta).toEqualTypeOf<GatewayMeta | undefined>();
    },
  };
  expectTypeOf(policy).toExtend<Policy>();
});

test('gateway.fetch is assignable to the types of fetch', () => {
  expectTypeOf<Fetch>().toExtend<typeof fetch>();
});
