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

it.each([
  ['is missed by a ratio below it', { peerRatio: 0.59 }, true],
  ['is not missed by a ratio at it', { peerRatio: 0.6 }, false],
  ['is missed where no ratio could be made', { peerRatio: undefined }, true],
  ['does not apply to a case that has no floor', { case: 'query', peerRatio: 0.1 }, false],
])('a floor %s', (_, fields, isMissed) => {
  const measured = result(fields);
  const expected = isMissed ? [{ result: measured, floor: 0.6 }] : [];
  expect(misses([measured], { gateway: { get: 0.6, list20: 0.6 } })).toEqual(expected);
});
