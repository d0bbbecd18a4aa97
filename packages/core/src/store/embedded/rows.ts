import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import type { RowCodec } from '../rowCodec.ts';
import { CHECKSUM_BYTES, isIntact, seal } from './checksum.ts';

// lmdb's buffers need not be Buffers, and one of them has a length of its own: the method is borrowed.
const { utf8Slice } = Buffer.prototype;

/** A checksum, and JSON. */
export function jsonRow<T>(): RowCodec<T> {
  return {
    encode(value) {
      const json = JSON.stringify(value);
      const row = Buffer.allocUnsafe(CHECKSUM_BYTES + Buffer.byteLength(json));
      row.write(json, CHECKSUM_BYTES);
      return seal(row);
    },
    decode(row) {
      if (!isIntact(row)) return null;
      // What is intact is what `encode` wrote.
      const value: T = JSON.parse(utf8Slice.call(row, CHECKSUM_BYTES, row.length));
      return value;
    },
  };
}

/** The rows of a collection: as its definition lays them out, or JSON that is checked against its schema. */
export function recordRow<Stored extends StoredRecord>(
  definition: CollectionDefinition<Stored>,
): RowCodec<Stored> {
  if (definition.row !== undefined) return definition.row;
  const json = jsonRow<Stored>();
  return {
    encode: (record) => json.encode(record),
    decode: (row) => definition.check(json.decode(row)) ?? null,
  };
}
