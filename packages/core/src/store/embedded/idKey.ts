/**
 * Encodes an id as an lmdb key, in the shape of lmdb's `keyEncoder` option: 8 bytes, big endian, so that the byte order is
 * the order of ids. A safe integer has at most 53 bits, so the first byte is always 0.
 */
export const idKey = {
  writeKey(id: number, target: Uint8Array, position: number): number {
    const high = Math.floor(id / 2 ** 32);
    target[position] = 0;
    target[position + 1] = high >>> 16;
    target[position + 2] = high >>> 8;
    target[position + 3] = high;
    target[position + 4] = id >>> 24;
    target[position + 5] = id >>> 16;
    target[position + 6] = id >>> 8;
    target[position + 7] = id;
    return position + 8;
  },
  readKey(source: Buffer, start: number): number {
    return source.readUInt32BE(start) * 2 ** 32 + source.readUInt32BE(start + 4);
  },
};
