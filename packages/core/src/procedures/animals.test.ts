import { describe, expect, test } from 'vitest';
import { PetId } from './animals.ts';

describe('PetId', () => {
  test.for([0, 1, -1, Number.MAX_SAFE_INTEGER, 2 ** 53, -(2 ** 63)])('PetId accepts %d', (id) => {
    expect(PetId.parse(id)).toBe(id);
  });

  test.for([0.5, 5e-324, 1.0000000000000002, 4503599627370495.5])('PetId rejects the fraction %d', (id) => {
    expect(PetId.safeParse(id).error?.issues.map(({ message }) => message)).toEqual(['must be an integer']);
  });

  test.for([2 ** 63, -(2 ** 63) - 2048])('PetId rejects %d, which is not an int64', (id) => {
    expect(PetId.safeParse(id).error?.issues.map(({ message }) => message)).toEqual(['must be an int64']);
  });
});
