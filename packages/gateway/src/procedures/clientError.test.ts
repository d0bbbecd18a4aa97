import type { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { t, testGateway } from '../testing/testGateway.ts';

/** As in an app that TypeScript compiles to CommonJS, whose copy of tRPC is another one than the gateway's. */
class OtherTrpcError extends Error implements TRPCError {
  override readonly name = 'TRPCError';
  declare readonly cause?: never;
  readonly code = 'CONFLICT';
}
const locked = new OtherTrpcError('Locked.');

const fails = t.procedure.query((): never => {
  throw new Error('The row is locked.');
});
const throws = {
  routes: {
    '/locked': () => {
      throw locked;
    },
  },
};

it.each([
  ['that mapError returns', '/trpc/fails', { mapError: () => locked, onError: () => {} }],
  ['that a policy returns', '/trpc/fails', { policies: [{ admit: () => locked }] }],
  ['that a route throws', '/locked', throws],
])('a TRPCError of another copy of tRPC %s is sent as it is', async (_, path, options) => {
  const gateway = await testGateway(t.router({ fails }), options);
  const response = await gateway.fetch(new Request(`http://localhost${path}`));
  expect([response.status, await response.text()]).toEqual([409, expect.stringContaining('Locked.')]);
});
