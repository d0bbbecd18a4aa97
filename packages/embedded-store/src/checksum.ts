/** Size of the checksum at the start of a row, in bytes. */
export const CHECKSUM_BYTES = 4;

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

/** Writes the checksum into a row. Call it when the rest of the row is complete. */
export function seal(row: Buffer): Buffer {
  row.writeUInt32LE(checksum(row), 0);
  return row;
}

/** Whether the checksum of a row is correct. */
export function isIntact(row: Uint8Array): boolean {
  return row.length >= CHECKSUM_BYTES && readUInt32LE(row) === checksum(row);
}

// Not row.readUInt32LE: for a large row lmdb returns a Uint8Array that is not a Buffer.
const readUInt32LE = (row: Uint8Array): number => Buffer.prototype.readUInt32LE.call(row, 0);
