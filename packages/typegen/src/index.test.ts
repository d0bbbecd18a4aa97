import { expect, it } from 'vitest';
import * as typegen from './index.ts';

it('has just these public names: one more is a decision', () => {
  expect(Object.keys(typegen).toSorted()).toEqual(['TypegenError', 'generateTypes']);
});
