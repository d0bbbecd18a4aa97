import { randomBytes } from 'node:crypto';

interface FrameParts {
  /** Default: 1 (text). */
  readonly opcode?: number;
  /** Default: true. */
  readonly fin?: boolean;
  /** Whether the payload is masked, as a client's must be. Default: true. */
  readonly masked?: boolean;
  /** Reserved bits to set, which makes the frame invalid. Default: 0. */
  readonly reserved?: number;
  /** The announced length. Default: the payload's length. */
  readonly length?: number | bigint;
}

/** Returns a client's WebSocket frame (RFC 6455 §5.2). The options can violate each rule. */
export function frame(
  payload: string | Uint8Array,
  { opcode = 1, fin = true, masked = true, reserved = 0, length }: FrameParts = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const announced = length ?? bytes.length;
  const maskBit = masked ? 0x80 : 0;
  const head = [(fin ? 0x80 : 0) | reserved | opcode];
  let size = Buffer.alloc(0);
  if (announced < 126) head.push(maskBit | Number(announced));
  else if (announced < 65_536) {
    head.push(maskBit | 126);
    size = Buffer.alloc(2);
    size.writeUInt16BE(Number(announced));
  } else {
    head.push(maskBit | 127);
    size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(announced));
  }
  if (!masked) return Buffer.concat([Buffer.from(head), size, bytes]);
  const mask = randomBytes(4);
  for (const [index, byte] of bytes.entries()) bytes[index] = byte ^ (mask[index % 4] ?? 0);
  return Buffer.concat([Buffer.from(head), size, mask, bytes]);
}

/** Returns the code of the close frame at the start of the bytes, if there is one: 1005 without a code in it. */
export function closeCodeOf(bytes: Buffer): number | undefined {
  if (bytes[0] !== 0x88) return undefined;
  if (bytes[1] === 0) return 1005;
  return bytes.length >= 4 ? bytes.readUInt16BE(2) : undefined;
}
