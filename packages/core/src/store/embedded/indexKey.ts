import { hash } from 'node:crypto';
import { idKey } from './idKey.ts';

/** An entry of an index: the encoded value, and the id of a record that has it. */
export type IndexKey = [value: Uint8Array, id: number];

/** A longer value stands as its hash: LMDB takes no long keys. */
const MAX_VALUE_BYTES = 200;

const ID_BYTES = 8;

/**
 * An index entry as an lmdb key, in the shape of its `keyEncoder` option: the value, then the id, so that the entries of
 * one value are neighbours in ascending order of id.
 */
export const indexKey = {
  writeKey([value, id]: IndexKey, target: Uint8Array, position: number): number {
    target.set(value, position);
    return idKey.writeKey(id, target, position + value.length);
  },
  /** The value is valid only until the next read. */
  readKey(source: Buffer, start: number, end: number): IndexKey {
    const at = end - ID_BYTES;
    return [source.subarray(start, at), idKey.readKey(source, at)];
  },
};

/** Encodes a value of a field: its length first, so that none is the beginning of another. */
export function encodeIndexValue(value: unknown): Uint8Array {
  const json = Buffer.from(JSON.stringify(value));
  if (json.length <= MAX_VALUE_BYTES) return Buffer.concat([Buffer.of(json.length), json]);
  return Buffer.concat([Buffer.of(MAX_VALUE_BYTES + 1), hash('sha256', json, 'buffer')]);
}
