/** How many bytes at the start of a row its checksum takes. */
export const CHECKSUM_BYTES = 4;

/**
 * FNV-1a, 32 bits, over what follows the checksum: any one changed byte changes it. LMDB keeps no checksums, and a
 * flipped bit must not become another animal, or a revoked key a good one. In JavaScript on purpose: it costs 0.03 µs
 * a row of 40 bytes, where calling zlib.crc32 costs 0.25 µs (a get is 0.9 µs).
 */
function checksum(row: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let index = CHECKSUM_BYTES; index < row.length; index++) {
    hash = Math.imul(hash ^ (row[index] ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

/** Writes the checksum into a row that is otherwise complete. */
export function seal(row: Buffer): Buffer {
  row.writeUInt32LE(checksum(row), 0);
  return row;
}

export function isIntact(row: Uint8Array): boolean {
  return row.length >= CHECKSUM_BYTES && readUInt32LE(row) === checksum(row);
}

// Not row.readUInt32LE: of a large row lmdb gives a Uint8Array that is no Buffer.
const readUInt32LE = (row: Uint8Array): number => Buffer.prototype.readUInt32LE.call(row, 0);
