import { closePayload, frame } from './webSocketFrame.ts';

/** A frame that violates RFC 6455, and the close code that answers it. */
export interface MalformedFrame {
  readonly name: string;
  readonly bytes: Buffer;
  /** Close code of RFC 6455 §7.4.1, sent by the package ws: in tRPC's adapter and in the gateway on node:http. */
  readonly code: number;
  /**
   * Close code that clients of uWebSockets.js 20 see. After a protocol violation it ends the connection without a close
   * frame (§7.1.7 says SHOULD): 1006. It answers a malformed close frame with an empty one: 1005.
   */
  readonly uws: number;
}

const violation = (name: string, bytes: Buffer, code = 1002): MalformedFrame => ({
  name,
  bytes,
  code,
  uws: 1006,
});
const badClose = (name: string, payload: string | Uint8Array, code = 1002): MalformedFrame => ({
  name,
  bytes: frame(payload, { opcode: 8 }),
  code,
  uws: 1005,
});

/** One violation for each rule of RFC 6455 §5, except masking, which `adapterDifferences` covers. */
export const malformedFrames: readonly MalformedFrame[] = [
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) =>
    violation(`the reserved opcode ${opcode}`, frame('x', { opcode })),
  ),
  ...[1, 2, 3, 4, 5, 6, 7].map((rsv) => violation(`the reserved bits ${rsv}`, frame('{}', { rsv }))),
  violation('a fragmented ping', frame('', { opcode: 9, fin: false })),
  violation('a fragmented close', frame('', { opcode: 8, fin: false })),
  violation('a ping of 126 bytes', frame('x'.repeat(126), { opcode: 9 })),
  violation('a close of 126 bytes', frame(closePayload(1000, 'x'.repeat(124)), { opcode: 8 })),
  violation('a continuation frame without a first frame', frame('x', { opcode: 0 })),
  violation('a message inside a fragmented message', Buffer.concat([frame('{', { fin: false }), frame('}')])),
  badClose('a close frame of one byte', 'x'),
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 65_535].map((code) =>
    badClose(`a close with the code ${code}`, closePayload(code)),
  ),
  badClose('a close whose reason is not UTF-8', Buffer.from([0x03, 0xe8, 0xff]), 1007),
  violation('text that is not UTF-8', frame(new Uint8Array([0xc3, 0x28])), 1007),
  violation(
    'text that is not UTF-8 in its second fragment',
    Buffer.concat([frame('{', { fin: false }), frame(new Uint8Array([0xff]), { opcode: 0 })]),
    1007,
  ),
  violation('a message of 8 MiB', frame('x'.repeat(8_388_608)), 1009),
  violation('a frame that announces 2^40 bytes', frame('x', { length: 2n ** 40n }), 1009),
  violation('a frame length with its highest bit set', frame('x', { length: 2n ** 63n }), 1009),
  violation(
    'fragments that exceed the message limit together',
    Buffer.concat([
      frame('x'.repeat(900_000), { fin: false }),
      ...Array.from({ length: 8 }, () => frame('x'.repeat(900_000), { opcode: 0, fin: false })),
      frame('x', { opcode: 0 }),
    ]),
    1009,
  ),
];

/** Malformed messages in valid frames. Each is answered with an error, and the WebSocket stays open. */
export const malformedMessages: readonly (readonly [name: string, text: string])[] = [
  ['a message that is not JSON', '{'],
  ['an empty message', ''],
  ['a message that is a number', '5'],
  ['an unknown method', '{"id":1,"method":"dance"}'],
  ['an id that is an object', '{"id":{},"method":"query","params":{"path":"hello"}}'],
  ['a request without an id', '{"method":"query","params":{"path":"nil"}}'],
  ['a procedure that does not exist', '{"id":1,"method":"query","params":{"path":"gone"}}'],
  ['a path of __proto__', '{"id":1,"method":"query","params":{"path":"__proto__"}}'],
  ['50,000 nested arrays', '['.repeat(50_000)],
  ['a batch of 1,000 numbers', `[${'5,'.repeat(999)}5]`],
];
