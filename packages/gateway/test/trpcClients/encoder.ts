import type { Encoder } from '@trpc/client';

/** An encoder that sends JSON with inverted bytes in binary frames, so that no JSON parser accepts it by accident. */
export const invertedJson: Encoder = {
  encode: (data) => new TextEncoder().encode(JSON.stringify(data)).map((byte) => byte ^ 0xff),
  decode: (data) => {
    if (typeof data === 'string') throw new Error('This encoder accepts binary frames only.');
    return JSON.parse(new TextDecoder().decode(new Uint8Array(data).map((byte) => byte ^ 0xff)));
  },
};
