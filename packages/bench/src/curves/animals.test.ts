import { expect, it } from 'vitest';
import { statusOf } from './animals.ts';

it('fills stores of every size with the same mix of statuses, and one that becomes the rarer the more there are', () => {
  for (const count of [1_000, 100_000]) {
    const counted: Record<string, number> = {};
    for (let id = 1; id <= count; id += 1) {
      const status = statusOf(id, count) ?? 'none';
      counted[status] = (counted[status] ?? 0) + 1;
    }
    expect(counted).toEqual({
      sold: 100,
      pending: count / 10,
      none: count / 10,
      available: count - count / 5 - 100,
    });
  }
});
