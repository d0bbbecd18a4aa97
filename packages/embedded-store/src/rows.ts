import type { StoredReservation } from '@petstore/core/store';

/** Size of the checksum at the start of a row, in bytes. */
export const CHECKSUM_BYTES = 4;

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

// lmdb may return a Uint8Array instead of a Buffer, and one with an own `length` property, so these methods are called on it.
const { readUInt32LE, utf8Slice } = Buffer.prototype;

/** Creates a codec for rows of a checksum and JSON. */
export function jsonRow<T>(): RowCodec<T> {
  return {
    encode(value) {
      const json = JSON.stringify(value);
      const row = Buffer.allocUnsafe(CHECKSUM_BYTES + Buffer.byteLength(json));
      row.write(json, CHECKSUM_BYTES);
      row.writeUInt32LE(checksum(row), 0);
      return row;
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

/**
 * Returns the 32-bit FNV-1a hash of the bytes after the checksum. It detects every change of a single byte. LMDB has no
 * checksums, and a flipped bit must not turn a record into another one or make a revoked key valid. It is implemented in
 * JavaScript because it takes 0.03 µs for a row of 40 bytes; calling zlib.crc32 takes 0.25 µs (a get takes 0.9 µs).
 */
function checksum(row: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let index = CHECKSUM_BYTES; index < row.length; index++) {
    hash = Math.imul(hash ^ (row[index] ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

/** Whether the checksum of a row is correct. Not row.readUInt32LE: for a large row lmdb returns no Buffer. */
const isIntact = (row: Uint8Array): boolean =>
  row.length >= CHECKSUM_BYTES && readUInt32LE.call(row, 0) === checksum(row);
