import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { createGateway } from '../gateway.ts';
import { limitsOf, requirePositiveIntegers, type Limits } from './limits.ts';

const defaults: Limits = {
  maxBodyBytes: 1_048_576,
  maxResponseBytes: 16_777_216,
  maxQueryParameters: 1000,
  maxJsonDepth: 100,
  maxInFlight: 1000,
  maxQueueMs: Infinity,
  callTimeoutMs: 30_000,
};
const names = Object.keys(defaults) as (keyof Limits)[];

it('limitsOf returns the documented default of each limit', () => {
  expect(limitsOf({})).toEqual(defaults);
});

it.each(names)('limitsOf takes a positive %s or Infinity, and leaves the other limits', (name) => {
  for (const value of [1, 0.5, Infinity]) {
    expect(limitsOf({ [name]: value })).toEqual({ ...defaults, [name]: value });
  }
});

it.each(names)('limitsOf rejects a %s of 0, a negative one and NaN', (name) => {
  for (const value of [0, -1, Number.NaN]) {
    expect(() => limitsOf({ [name]: value })).toThrow(
      `${name} is ${value}; it must be a positive number, or Infinity for no limit.`,
    );
  }
});

it.each([1, Number.MAX_SAFE_INTEGER])('requirePositiveIntegers accepts %s', (calls) => {
  expect(() => requirePositiveIntegers('rateLimit', { calls })).not.toThrow();
});

it.each([0, -1, 1.5, Infinity, Number.NaN, 2 ** 53])(
  'requirePositiveIntegers rejects %s',
  (windowSeconds) => {
    expect(() => requirePositiveIntegers('rateLimit', { calls: 1, windowSeconds })).toThrow(
      `rateLimit.windowSeconds is ${windowSeconds}; it must be a positive integer.`,
    );
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
