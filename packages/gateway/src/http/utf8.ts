// Hot path. Node's `Buffer` encodes a short text in a fifth of the time of `TextEncoder`, and counts its bytes in a
// twentieth.
const { Buffer } = globalThis as { readonly Buffer?: typeof globalThis.Buffer };
const textEncoder = new TextEncoder();

/** Encodes a text as UTF-8. The `buffer` of the result may be larger and contain other texts. */
export const utf8Bytes: (text: string) => Uint8Array<ArrayBuffer> = Buffer
  ? (text) => Buffer.from(text)
  : (text) => textEncoder.encode(text);

/** Returns the length of a text in UTF-8, in bytes. */
export const utf8Length: (text: string) => number = Buffer
  ? (text) => Buffer.byteLength(text)
  : (text) => textEncoder.encode(text).byteLength;
