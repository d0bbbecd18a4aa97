import { expect, it } from 'vitest';
import { misses } from './floors.ts';
import type { Result } from './throughput.ts';

const result = (fields: Partial<Result>): Result => ({
  case: 'get',
  contender: 'gateway',
  rate: 100,
  perCore: 100,
  spread: 0,
  ratio: 1,
  peerRatio: 0.8,
  rounds: [],
  ...fields,
});

it('a floor is missed by a ratio below it, and by none at or above it', () => {
  const floors = { gateway: { get: 0.6, list20: 0.6, query: 0.6 } };
  const below = result({ case: 'query', peerRatio: 0.59 });
  expect(misses([result({}), result({ case: 'list20', peerRatio: 0.6 }), below], floors)).toEqual([
    { result: below, floor: 0.6 },
  ]);
});

it('a floor is missed where no ratio could be made', () => {
  expect(misses([result({ peerRatio: undefined })], { gateway: { get: 0.6 } })).toHaveLength(1);
});

it('a floor does not apply to a contender that was not measured or has no floor', () => {
  expect(misses([result({ case: 'query' })], { gateway: { get: 0.6 } })).toEqual([]);
});
