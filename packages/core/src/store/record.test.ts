import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineCollection } from './collection.ts';
import { matchesFingerprint } from './record.ts';

/** Documents with optional fields before and behind their text. */
const documentsWith = (optionalFields: number) => {
  const optional = (prefix: string) =>
    Object.fromEntries(
      Array.from({ length: optionalFields / 2 }, (_, index) => [
        `${prefix}${index}`,
        z.string().exactOptional(),
      ]),
    );
  return defineCollection({
    name: 'documents',
    schema: z.object({ id: z.int(), ...optional('a'), text: z.string(), ...optional('b') }),
    id: 'sequence',
  });
};

/** Returns the fingerprint that an earlier version stored: a row of all fields, with `null` for absent ones. */
const earlier = (row: readonly unknown[]) => hash('sha256', JSON.stringify(row), 'base64url');

test('the fingerprint of an earlier version is recognized if up to 3 of the absent fields are newer', () => {
  const documents = documentsWith(8);
  const matches = (stored: readonly unknown[]) =>
    matchesFingerprint(documents, { text: 'x' }, earlier(stored));
  const absent = Array<null>(4).fill(null);
  for (let newer = 0; newer <= 4; newer += 1) {
    expect(matches([...absent, 'x', ...absent.slice(newer)]), `${newer} newer fields`).toBe(newer <= 3);
  }
  expect(matches([...absent, 'y', ...absent])).toBe(false);
});

test('a key that was used with other values of 1 MB takes less than 100 ms of processor time', () => {
  const documents = documentsWith(20);
  const values = { text: 'ü'.repeat(500_000) };
  // The least of three: the collector of garbage may run in one.
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    expect(matchesFingerprint(documents, values, 'other')).toBe(false);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(100);
});
