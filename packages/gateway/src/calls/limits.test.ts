import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { createGateway } from '../gateway.ts';
import { limitsOf, type AllLimits, type Limits } from './limits.ts';

const defaults: AllLimits = {
  maxBodyBytes: 1_048_576,
  maxResponseBytes: 16_777_216,
  maxQueryParameters: 1000,
  maxJsonDepth: 100,
  maxJsonContainers: 65_536,
  maxInFlight: 1000,
  maxQueueMs: Infinity,
  callTimeoutMs: 30_000,
};
const names = Object.keys(defaults).filter(
  (name) => !['maxBodyBytes', 'maxQueryParameters', 'maxJsonDepth', 'maxJsonContainers'].includes(name),
) as (keyof Limits)[];

it('limitsOf returns the documented default of each limit', () => {
  expect(limitsOf({})).toEqual(defaults);
});

it.each(names)('limitsOf takes a positive %s or Infinity, and leaves the other limits', (name) => {
  for (const value of [1, 0.5, Infinity]) {
    expect(limitsOf({ [name]: value })).toEqual({ ...defaults, [name]: value });
  }
});

it.each([
  [1, 65_536],
  [1_048_577, 65_536],
  [16_777_216, 1_048_576],
  [Infinity, Infinity],
])(
  'limitsOf takes a maxBodyBytes of %s, and allows an array or object for each 16 bytes of it: %s',
  (maxBodyBytes, maxJsonContainers) => {
    expect(limitsOf({ maxBodyBytes })).toEqual({ ...defaults, maxBodyBytes, maxJsonContainers });
  },
);

it.each([
  [100, 200],
  [101, 400],
])('a tRPC batch of %i calls is answered with %i by default', async (calls, status) => {
  const t = initTRPC.create();
  const { fetch } = await createGateway({
    router: t.router({ a: t.procedure.query(() => 1) }),
    createContext: () => ({}),
    document: { title: 'Batches', version: '1.0.0' },
  });
  const paths = Array.from({ length: calls }, () => 'a').join(',');
  expect((await fetch(`http://localhost/trpc/${paths}?batch=1`)).status).toBe(status);
});
