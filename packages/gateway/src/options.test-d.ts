import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import type { WSSHandlerOptions } from '@trpc/server/adapters/ws';
import { expectTypeOf, test } from 'vitest';
import { createGateway } from './gateway.ts';
import { apiKey } from './auth/schemes/apiKey.ts';
import { bearer } from './auth/schemes/bearer.ts';
import { jwt } from './auth/schemes/jwt.ts';
import type { SocketOptions } from './protocols/trpc/options.ts';

test('SocketOptions has the same types as the options of tRPC’s own WebSocket adapter', () => {
  type TrpcOptions = WSSHandlerOptions<AnyTRPCRouter>;
  expectTypeOf<Pick<SocketOptions, 'keepAlive' | 'experimental_encoder'>>().toEqualTypeOf<
    Readonly<Pick<TrpcOptions, 'keepAlive' | 'experimental_encoder'>>
  >();
});

test('createContext infers the type of identity from the schemes', async () => {
  const router = initTRPC.create().router({});
  const document = { title: 'Types', version: '0.0.0' };
  const users = new Map([['a', { user: 'Ada' }]]);
  const services = new Map([['b', { service: 'cron' }]]);
  const byToken = bearer({ verify: async (token) => users.get(token) });
  type Caller = { readonly user: string } | { readonly service: string };
  await createGateway({
    router,
    authentication: byToken,
    createContext({ identity }) {
      expectTypeOf(identity).toEqualTypeOf<{ user: string } | undefined>();
      return {};
    },
    document,
  });
  await createGateway({
    router,
    authentication: jwt({ issuer: 'a', audience: 'b', jwksUri: 'https://a.example/jwks' }),
    createContext({ identity }) {
      expectTypeOf(identity?.sub).toEqualTypeOf<string | undefined>();
      return {};
    },
    document,
  });
  await createGateway({
    router,
    // All schemes of a list return the same type.
    authentication: [
      bearer<Caller>({ verify: (token) => users.get(token) }),
      apiKey<Caller>({ verify: (key) => services.get(key) }),
    ],
    createContext({ identity }) {
      expectTypeOf(identity).toEqualTypeOf<Caller | undefined>();
      return {};
    },
    document,
  });
});
