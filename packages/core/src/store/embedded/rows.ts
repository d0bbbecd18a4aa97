import type { Animal, PetStatus } from '../../schemas.ts';
import { CHECKSUM_BYTES, isIntact, seal } from './checksum.ts';

/** What a codec gives for bytes that are not what was stored. It must not throw: lmdb's cursors would stay open. */
export type Decoded<T> = T | null;

/** Bytes of a row and back, in the shape of lmdb's `encoder` option. */
export interface RowCodec<T> {
  encode(value: T): Buffer;
  /** @param row valid, and its length right, only until the next read */
  decode(row: Uint8Array): Decoded<T>;
}

/*
 * An animal's row, format 1, little endian:
 *   0  checksum, uint32
 *   4  status, one byte: 0 absent, then as in STATUSES
 *   5  id, float64: the row says whose it is, so a damaged key shows
 *  13  categoryId, float64: exact, since both are safe integers
 *  21  name, UTF-8, to the end
 */
const STATUS = CHECKSUM_BYTES;
const ID = STATUS + 1;
const CATEGORY_ID = ID + 8;
const NAME = CATEGORY_ID + 8;

/** Their order is on disk: append only. */
const STATUSES: readonly (PetStatus | undefined)[] = [undefined, 'available', 'pending', 'sold'];

// lmdb's buffers need not be Buffers, and one of them has a length of its own: the methods are borrowed.
const { readDoubleLE, readUInt8, utf8Slice } = Buffer.prototype;

export const animalRow: RowCodec<Animal> = {
  encode({ id, name, categoryId, status }) {
    const row = Buffer.allocUnsafe(NAME + Buffer.byteLength(name));
    row[STATUS] = STATUSES.indexOf(status);
    row.writeDoubleLE(id, ID);
    row.writeDoubleLE(categoryId, CATEGORY_ID);
    row.write(name, NAME);
    return seal(row);
  },
  decode(row) {
    if (row.length < NAME || !isIntact(row)) return null;
    const id = readDoubleLE.call(row, ID);
    const categoryId = readDoubleLE.call(row, CATEGORY_ID);
    const code = readUInt8.call(row, STATUS);
    if (code >= STATUSES.length || !Number.isSafeInteger(categoryId)) return null;
    const name = utf8Slice.call(row, NAME, row.length);
    const status = STATUSES[code];
    // Two literals: a status that is absent stays absent, and each shape keeps its hidden class.
    return status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
  },
};

/** Any other row: a checksum, and JSON. */
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
