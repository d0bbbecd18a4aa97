import type { CollectionDefinition, StoredRecord } from '../collection.ts';
import type { RowCodec } from '../rowCodec.ts';
import type { StoredReservation } from '../transfer.ts';
import { CHECKSUM_BYTES, isIntact, seal } from './checksum.ts';

/** Stored reservation. Its key is the digest. */
export type ReservationRow = Omit<StoredReservation, 'digest'>;

// lmdb may return a Uint8Array instead of a Buffer, and one with an own `length` property, so this method is called on it.
export const { utf8Slice } = Buffer.prototype;

/** Creates a codec for rows of a checksum and JSON. */
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
      // The checksum is correct, so `encode` wrote the row.
      const value: T = JSON.parse(utf8Slice.call(row, CHECKSUM_BYTES, row.length));
      return value;
    },
  };
}

/** Returns the codec of a collection's rows: the one of its definition, or JSON that is validated with its schema. */
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
