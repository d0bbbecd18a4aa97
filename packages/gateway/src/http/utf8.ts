// Hot path. Node's `Buffer`, where there is one, takes a fifth of the time of `TextEncoder` for a short text, and a
// twentieth to count its bytes.
const { Buffer } = globalThis as { readonly Buffer?: typeof globalThis.Buffer };
const encoder = new TextEncoder();

/** A text in UTF-8. Its `buffer` may be larger, and hold other texts. */
export const utf8Bytes: (text: string) => Uint8Array<ArrayBuffer> = Buffer
  ? (text) => Buffer.from(text)
  : (text) => encoder.encode(text);

/** How many bytes a text has in UTF-8. */
export const utf8Length: (text: string) => number = Buffer
  ? (text) => Buffer.byteLength(text)
  : (text) => encoder.encode(text).byteLength;
