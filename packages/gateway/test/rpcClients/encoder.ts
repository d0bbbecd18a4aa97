import type { Encoder } from '@trpc/client';

/** JSON in binary frames, each byte turned round: nothing that expects text, or JSON, reads it by accident. */
export const invertedJson: Encoder = {
  encode: (data) => new TextEncoder().encode(JSON.stringify(data)).map((byte) => byte ^ 0xff),
  decode: (data) => {
    if (typeof data === 'string') throw new Error('This encoder reads binary frames alone.');
    return JSON.parse(new TextDecoder().decode(new Uint8Array(data).map((byte) => byte ^ 0xff)));
  },
};
