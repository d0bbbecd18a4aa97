import { expectTypeOf, test } from 'vitest';
import type { Fetch } from './fetch.ts';

test('gateway.fetch can be given wherever a fetch is expected', () => {
  expectTypeOf<Fetch>().toExtend<typeof fetch>();
});
