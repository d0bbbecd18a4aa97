import { expect, it } from 'vitest';
import { limitsOf, type AllLimits } from './limits.ts';

const defaults: AllLimits = {
  maxBodySize: 1_048_576,
  maxResponseSize: 16_777_216,
  maxQueryParameters: 1000,
  maxJsonDepth: 100,
  maxJsonContainers: 65_536,
  maxInFlight: 1000,
  maxQueueMs: Infinity,
  callTimeoutMs: 30_000,
};

it('limitsOf returns the documented default of each limit', () => {
  expect(limitsOf({})).toEqual(defaults);
});

it.each([
  [1, 65_536],
  [1_048_577, 65_536],
  [16_777_216, 1_048_576],
  [Infinity, Infinity],
])(
  'limitsOf takes a maxBodySize of %s, and allows an array or object for each 16 bytes of it: %s',
  (maxBodySize, maxJsonContainers) => {
    expect(limitsOf({ maxBodySize })).toEqual({ ...defaults, maxBodySize, maxJsonContainers });
  },
);
