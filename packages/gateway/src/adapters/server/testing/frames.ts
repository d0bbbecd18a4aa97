interface FrameOptions {
  /** RFC 6455 §5.2. Default: 1, text. */
  readonly opcode?: number;
  readonly isFinal?: boolean;
  /** Bits that must be clear. */
  readonly reserved?: number;
}

/** A frame of a client, under a mask of zeros, with at most 65,535 bytes. */
export function frame(
  payload: string | Buffer,
  { opcode = 1, isFinal = true, reserved = 0 }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const { length } = bytes;
  const size = length < 126 ? [0x80 | length] : [0xfe, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | reserved | opcode, ...size, 0, 0, 0, 0]), bytes]);
}

/** The head of a text frame that announces so many bytes. */
export function headOfFrame(length: number): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x81, 0xff]);
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** The code of the close frame of a server with which bytes begin. */
export const closeCodeOf = (bytes: Buffer): number | undefined =>
  bytes[0] === 0x88 && bytes.length >= 4 ? bytes.readUInt16BE(2) : undefined;
