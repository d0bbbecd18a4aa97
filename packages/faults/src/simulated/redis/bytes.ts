/** Encodes a text as UTF-8, with a character for each byte: what the simulated Redis stores, and scripts measure. */
export const toBytes = (text: string): string =>
  /[\u0080-\uffff]/.test(text) ? Buffer.from(text).toString('latin1') : text;

/** Decodes what `toBytes` has encoded. */
export const fromBytes = (bytes: string): string =>
  /[\u0080-\u00ff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes;
