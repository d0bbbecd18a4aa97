import { expectTypeOf, test } from 'vitest';
import { endWithError } from './index.ts';

test('endWithError never returns, so that a value assigned in its try block is assigned after it', () => {
  expectTypeOf(endWithError).returns.toBeNever();
});
