import type { AnyTRPCRouter } from '@trpc/server';
import type { WSSHandlerOptions } from '@trpc/server/adapters/ws';
import { expectTypeOf, test } from 'vitest';
import type { SocketOptions } from './protocols/trpc/options.ts';

test('what tRPC’s own adapter takes for WebSockets is taken here as it is', () => {
  type Own = WSSHandlerOptions<AnyTRPCRouter>;
  expectTypeOf<
    Pick<SocketOptions, 'keepAlive' | 'dangerouslyDisablePong' | 'experimental_encoder'>
  >().toEqualTypeOf<Readonly<Pick<Own, 'keepAlive' | 'dangerouslyDisablePong' | 'experimental_encoder'>>>();
});
