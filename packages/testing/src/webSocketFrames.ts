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

/** A frame sent by a server, unmasked. */
interface ServerFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** Parses the response head of an upgrade and the server's frames that follow it. */
export class FrameReader {
  /** Status of the upgrade response; 0 until it arrives. */
  status = 0;
  readonly frames: ServerFrame[] = [];
  #rest = Buffer.alloc(0);

  push(chunk: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (this.status === 0) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.status = Number(this.#rest.subarray(9, 12).toString());
      this.#rest = this.#rest.subarray(end + 4);
    }
    if (this.status === 101) while (this.#take());
  }

  /** Code of the server's close frame: 1005 if the frame has none, `undefined` without a close frame. */
  get closeCode(): number | undefined {
    const close = this.frames.find(({ opcode }) => opcode === 8);
    if (close === undefined) return undefined;
    return close.payload.length >= 2 ? close.payload.readUInt16BE(0) : 1005;
  }

  #take(): boolean {
    const buffer = this.#rest;
    if (buffer.length < 2) return false;
    let length = buffer.readUInt8(1) & 0x7f;
    let start = 2;
    if (length === 126) {
      if (buffer.length < 4) return false;
      length = buffer.readUInt16BE(2);
      start = 4;
    } else if (length === 127) {
      if (buffer.length < 10) return false;
      length = Number(buffer.readBigUInt64BE(2));
      start = 10;
    }
    if (buffer.length < start + length) return false;
    this.frames.push({
      opcode: buffer.readUInt8(0) & 0x0f,
      payload: buffer.subarray(start, start + length),
    });
    this.#rest = buffer.subarray(start + length);
    return true;
  }
}

/** Returns the code of the close frame at the start of the bytes, if there is one. */
export const closeCodeOf = (bytes: Buffer): number | undefined =>
  bytes[0] === 0x88 && bytes.length >= 4 ? bytes.readUInt16BE(2) : undefined;
