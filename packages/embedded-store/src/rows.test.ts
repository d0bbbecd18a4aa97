import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idKey } from './indexKey.ts';
import { CHECKSUM_BYTES, jsonRow } from './rows.ts';

const id = fc.maxSafeNat();

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
