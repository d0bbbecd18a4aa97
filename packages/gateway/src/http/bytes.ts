/** Bytes in an `ArrayBuffer` that is not shared with other threads. */
export type Bytes = Uint8Array<ArrayBuffer>;
