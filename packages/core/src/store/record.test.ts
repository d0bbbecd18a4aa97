import { expect, test } from 'vitest';
import { z } from 'zod';
import { animals } from '../procedures/animals.ts';
import { defineCollection } from './collection.ts';
import { fingerprint } from './record.ts';
import { categories, Category } from './testing/contract.ts';

// A change of this text needs a new storage format: retries would fail with `key-reused`.
test('the fingerprint of values is stable, and depends on no absent field and no order', () => {
  const text = fingerprint(animals, { name: 'é', categoryId: 2, status: 'sold' });
  expect(text).toMatchInlineSnapshot(`"rLdi_27_LvtMp8zYRUskNwDQ_MWkPP2et1y1hWjzxw0"`);
  expect(fingerprint(animals, { status: 'sold', categoryId: 2, name: 'é' })).toBe(text);
  expect(fingerprint(animals, { name: 'Rex', categoryId: 2, status: undefined })).toBe(
    fingerprint(animals, { name: 'Rex', categoryId: 2 }),
  );
});

test('fingerprints stay the same when fields of the schema change their order and others are added', () => {
  const fields = { added: z.string().exactOptional(), ...Category.shape };
  const reversed = Object.fromEntries(Object.entries(fields).toReversed());
  // The same fields, which the types of fromEntries lose.
  const schema = z.object(reversed) as unknown as typeof Category;
  const later = defineCollection({ name: 'categories', schema, id: 'sequence' });
  const values = { name: 'Dogs', note: null, tags: [{ tag: 'a' }] };
  const earlier = fingerprint(categories, values);
  expect(fingerprint(later, values)).toBe(earlier);
  for (const other of [
    { ...values, note: undefined },
    { ...values, kind: 'a' },
    { ...values, tags: [] },
  ]) {
    expect(fingerprint(categories, other)).not.toBe(earlier);
  }
});
