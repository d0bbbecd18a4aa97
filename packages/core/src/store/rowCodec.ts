/** The result for bytes that are not what was stored. It must not throw: lmdb's cursors would stay open. */
export type Decoded<T> = T | null;

/** Encodes a row and decodes it, in the shape of lmdb's `encoder` option. */
export interface RowCodec<T> {
  encode(value: T): Buffer;
  /** @param row valid, and its length right, only until the next read */
  decode(row: Uint8Array): Decoded<T>;
}
