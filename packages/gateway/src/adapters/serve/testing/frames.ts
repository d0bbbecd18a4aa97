interface FrameOptions {
  /** Opcode (RFC 6455 §5.2). Default: 1, text. */
  readonly opcode?: number;
  readonly isFinal?: boolean;
  /** Reserved bits to set, which makes the frame invalid. */
  readonly reserved?: number;
}

/** Creates a frame of a client, masked with zeros, of at most 65,535 bytes. */
export function frame(
  payload: string | Buffer,
  { opcode = 1, isFinal = true, reserved = 0 }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | reserved | opcode, ...size, 0, 0, 0, 0]), bytes]);
}

/** Creates the head of a text frame that announces `length` bytes. */
export function headOfFrame(length: number): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x81, 0xff]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** Returns the code of the close frame at the start of the bytes, if there is one. */
export const closeCodeOf = (bytes: Buffer): number | undefined =>
  bytes[0] === 0x88 && bytes.length >= 4 ? bytes.readUInt16BE(2) : undefined;
