import { expect, test } from 'vitest';
import { ownOf, usedOf } from './foreignLoad.ts';

test('The used time of cores is their user, nice, system and steal time, without idle time and interrupts', () => {
  const stat = 'cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 100 20 300 9999 50 7 8 10 0 0\ncpu1 1 2 3 9999 5 6 7 4 0 0\n';
  expect(usedOf(stat, [0])).toBeCloseTo(4.3);
  expect(usedOf(stat, [0, 1])).toBeCloseTo(4.4);
});

test('The own time of the bench is that of the process and of its children that have ended', () => {
  const stat = '42 (node (a b) c) S 1 42 42 0 -1 4194560 10 0 0 0 150 50 300 100 20 0 11 0 123';
  expect(ownOf(stat)).toBeCloseTo(6);
});
