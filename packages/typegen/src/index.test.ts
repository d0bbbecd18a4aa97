import { expect, it } from 'vitest';
import * as typegen from './index.ts';

it('trpc-gateway-typegen exports exactly these names', () => {
  expect(Object.keys(typegen).toSorted()).toEqual(['TypegenError', 'generateTypes', 'readOutputs']);
});
