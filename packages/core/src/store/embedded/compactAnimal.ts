import type { StoredRecord } from '../collection.ts';
import { CHECKSUM_BYTES, isIntact } from './checksum.ts';
import { type Decoded, utf8Slice } from './rows.ts';

/*
 * Layout of an animal's row in formats 1 and 2, little endian:
 *   0  checksum, uint32
 *   4  status, one byte: 0 absent, then as in STATUSES
 *   5  id, float64
 *  13  categoryId, float64
 *  21  name, UTF-8, to the end
 */
const STATUS = CHECKSUM_BYTES;
const ID = STATUS + 1;
const CATEGORY_ID = ID + 8;
const NAME = CATEGORY_ID + 8;

const STATUSES = [undefined, 'available', 'pending', 'sold'] as const;

// lmdb may return a Uint8Array instead of a Buffer, and one with an own `length` property, so these methods are called on it.
const { readDoubleLE, readUInt8 } = Buffer.prototype;

/** Decodes an animal of formats 1 and 2. Rows of JSON, which begin with a brace in place of the status, are `null`. */
export function decodeCompactAnimal(row: Uint8Array): Decoded<StoredRecord> {
  if (row.length < NAME || !isIntact(row)) return null;
  const code = readUInt8.call(row, STATUS);
  if (code >= STATUSES.length) return null;
  const animal = {
    id: readDoubleLE.call(row, ID),
    name: utf8Slice.call(row, NAME, row.length),
    categoryId: readDoubleLE.call(row, CATEGORY_ID),
    // Absent in JSON if it is undefined.
    status: STATUSES[code],
  };
  return animal;
}
