import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Animal, PetStatus } from '../../procedures/animals.ts';
import { CHECKSUM_BYTES, seal } from './checksum.ts';
import { decodeCompactAnimal } from './compactAnimal.ts';
import { idKey } from './idKey.ts';
import { jsonRow } from './rows.ts';
import { encodeCompactAnimal } from './testing/formatOne.ts';

const id = fc.maxSafeNat();
const animal: fc.Arbitrary<Animal> = fc.record(
  {
    id,
    name: fc.string({ unit: 'binary' }).filter((name) => name.isWellFormed()),
    categoryId: fc.maxSafeInteger(),
    status: fc.constantFrom(...PetStatus.options),
  },
  { requiredKeys: ['id', 'name', 'categoryId'] },
);

test('decoding an animal of format 2 returns an equal animal', () => {
  fc.assert(
    fc.property(animal, (each) => {
      expect(decodeCompactAnimal(encodeCompactAnimal(each))).toEqual({ ...each });
    }),
  );
});

test('decoding an animal of format 2 with a flipped bit or a missing end returns null', () => {
  fc.assert(
    fc.property(animal, fc.nat(), fc.nat(7), (each, at, bit) => {
      const row = encodeCompactAnimal(each);
      expect(decodeCompactAnimal(row.subarray(0, at % row.length))).toBeNull();
      const index = at % row.length;
      row[index] = (row[index] ?? 0) ^ (1 << bit);
      expect(decodeCompactAnimal(row)).toBeNull();
    }),
  );
});

test('a row of format 2 is null as JSON, and a row of JSON is null as an animal of format 2', () => {
  fc.assert(
    fc.property(animal, (each) => {
      expect(jsonRow().decode(encodeCompactAnimal(each))).toBeNull();
      expect(decodeCompactAnimal(jsonRow().encode(each))).toBeNull();
    }),
  );
});

test.each([4, 255])('decoding an intact row of format 2 with the unknown status %i returns null', (code) => {
  const row = encodeCompactAnimal({ id: 1, name: 'Rex', categoryId: 2, status: 'sold' });
  expect(row[CHECKSUM_BYTES]).toBe(3);
  row[CHECKSUM_BYTES] = code;
  expect(decodeCompactAnimal(seal(row))).toBeNull();
});

test('decoding an encoded JSON value returns it, and null after a bit flip', () => {
  const codec = jsonRow<unknown>();
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(), fc.nat(7), (value, at, bit) => {
      const row = codec.encode(value);
      expect(codec.decode(row)).toEqual(JSON.parse(JSON.stringify(value)));
      const index = at % row.length;
      row[index] = (row[index] ?? 0) ^ (1 << bit);
      expect(codec.decode(row)).toBeNull();
    }),
  );
});

// A change of these bytes needs a new storage format.
test('the bytes of a row are stable', () => {
  const row = jsonRow().encode({ id: 1, name: 'é', categoryId: 2, status: 'sold' });
  expect(row.subarray(CHECKSUM_BYTES).toString()).toBe('{"id":1,"name":"é","categoryId":2,"status":"sold"}');
  expect(row.subarray(0, CHECKSUM_BYTES).toString('hex')).toMatchInlineSnapshot(`"3196efe1"`);
});

test('the bytes of an animal of format 2 are those that version 1.0.0 wrote', () => {
  const hex = (each: Animal) => encodeCompactAnimal(each).toString('hex');
  expect(hex({ id: 1, name: 'é', categoryId: 2 })).toMatchInlineSnapshot(
    `"eaed6a7800000000000000f03f0000000000000040c3a9"`,
  );
  expect(hex({ id: 1, name: 'é', categoryId: 2, status: 'available' })).toMatchInlineSnapshot(
    `"6df26bb501000000000000f03f0000000000000040c3a9"`,
  );
  expect(hex({ id: 1, name: 'é', categoryId: 2, status: 'pending' })).toMatchInlineSnapshot(
    `"98f6478302000000000000f03f0000000000000040c3a9"`,
  );
  expect(hex({ id: 1, name: 'é', categoryId: 2, status: 'sold' })).toMatchInlineSnapshot(
    `"c39d6a6203000000000000f03f0000000000000040c3a9"`,
  );
});

test('decoding an id key returns the id, and keys sort in the order of ids', () => {
  const key = (each: number) => {
    const bytes = Buffer.alloc(10);
    expect(idKey.writeKey(each, bytes, 1)).toBe(9);
    expect(idKey.readKey(bytes, 1)).toBe(each);
    return bytes;
  };
  fc.assert(
    fc.property(id, id, (one, other) => {
      expect(Math.sign(Buffer.compare(key(one), key(other)))).toBe(Math.sign(one - other));
    }),
    {
      examples: [
        [2 ** 32 - 1, 2 ** 32],
        [2 ** 53 - 1, 2 ** 53 - 2],
        [255, 256],
        [0, 1],
      ],
    },
  );
});
