/** A decoded value, or `null` for damaged bytes. Decoders must not throw: lmdb would leave its cursors open. */
export type Decoded<T> = T | null;

/** Encodes and decodes a row. Has the shape of lmdb's `encoder` option. */
export interface RowCodec<T> {
  encode(value: T): Buffer;
  /** @param row its content and length are valid only until the next read */
  decode(row: Uint8Array): Decoded<T>;
}
