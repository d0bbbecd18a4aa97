import { expect, test } from 'vitest';
import { animals } from '../procedures/animals.ts';
import { fingerprint } from './record.ts';

// A change of this text needs a new storage format: retries would fail with `key-reused`.
test('the fingerprint of values is stable, and depends on no absent field and no order', () => {
  const text = fingerprint(animals, { name: 'é', categoryId: 2, status: 'sold' });
  expect(text).toMatchInlineSnapshot(`"rLdi_27_LvtMp8zYRUskNwDQ_MWkPP2et1y1hWjzxw0"`);
  expect(fingerprint(animals, { status: 'sold', categoryId: 2, name: 'é' })).toBe(text);
  expect(fingerprint(animals, { name: 'Rex', categoryId: 2, status: undefined })).toBe(
    fingerprint(animals, { name: 'Rex', categoryId: 2 }),
  );
});
