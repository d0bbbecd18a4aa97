import { hash } from 'node:crypto';

/** An id as an lmdb key (`keyEncoder`): 8 bytes, big endian, ordered as ids; 53 bits, so the first is 0. */
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

/** Key of an index entry: an encoded value and the id of a record with this value. */
export type IndexKey = [value: Uint8Array, id: number];

/** Longer values are replaced by their hash, because LMDB limits the length of keys. */
const MAX_VALUE_BYTES = 200;

const ID_BYTES = 8;

/** An index entry as an lmdb key (`keyEncoder`): value, then id: the entries of a value ascend by id. */
export const indexKey = {
  writeKey([value, id]: IndexKey, target: Uint8Array, position: number): number {
    target.set(value, position);
    return idKey.writeKey(id, target, position + value.length);
  },
  /** The returned value is valid only until the next read. */
  readKey(source: Buffer, start: number, end: number): IndexKey {
    const at = end - ID_BYTES;
    return [source.subarray(start, at), idKey.readKey(source, at)];
  },
};

/** Encodes a value of a field. It starts with the length, so that no encoded value is a prefix of another. */
export function encodeIndexValue(value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  if (json.length <= MAX_VALUE_BYTES) return Buffer.concat([Buffer.of(json.length), json]);
  return Buffer.concat([Buffer.of(MAX_VALUE_BYTES + 1), hash('sha256', json, 'buffer')]);
}
