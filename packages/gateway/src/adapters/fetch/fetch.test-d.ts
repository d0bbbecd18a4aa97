import { expectTypeOf, test } from 'vitest';
import type { Fetch } from './fetch.ts';

test('gateway.fetch is assignable to the types of fetch', () => {
  expectTypeOf<Fetch>().toExtend<typeof fetch>();
});
