import type { StoredReservation } from '@petstore/core/store';
import { CHECKSUM_BYTES, isIntact, seal } from './checksum.ts';

/** A decoded value, or `null` for damaged bytes. Decoders must not throw: lmdb would leave its cursors open. */
export type Decoded<T> = T | null;

/** Encodes and decodes a row. Has the shape of lmdb's `encoder` option. */
export interface RowCodec<T> {
  encode(value: T): Buffer;
  /** @param row its content and length are valid only until the next read */
  decode(row: Uint8Array): Decoded<T>;
}

/** Stored reservation. Its key is the digest. */
export type ReservationRow = Omit<StoredReservation, 'digest'>;

// lmdb may return a Uint8Array instead of a Buffer, and one with an own `length` property, so this method is called on it.
const { utf8Slice } = Buffer.prototype;

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
      try {
        // The checksum is correct, so `encode` wrote the row.
        const value: T = JSON.parse(utf8Slice.call(row, CHECKSUM_BYTES, row.length));
        return value;
      } catch {
        return null;
      }
    },
  };
}
