import { closePayload, frame } from './webSocketFrame.ts';

/** What a client may not send, and the code that it is closed with. */
export interface MalformedFrame {
  readonly name: string;
  readonly bytes: Buffer;
  /** RFC 6455 §7.4.1's code, which servers on the package ws send: tRPC's adapter, and the gateway's on node:http. */
  readonly code: number;
  /**
   * uWebSockets.js 20 ends the connection of a client that breaks the protocol without a close frame, where §7.1.7 says
   * SHOULD: clients see 1006. A close frame that is not well-formed it answers with an empty one: 1005.
   */
  readonly uws: number;
}

const breach = (name: string, bytes: Buffer, code = 1002): MalformedFrame => ({
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

/** RFC 6455 §5, broken rule by rule; that a client's frames are masked is in `adapterDifferences`. */
export const malformedFrames: readonly MalformedFrame[] = [
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) =>
    breach(`the reserved opcode ${opcode}`, frame('x', { opcode })),
  ),
  ...[1, 2, 3, 4, 5, 6, 7].map((rsv) => breach(`the reserved bits ${rsv}`, frame('{}', { rsv }))),
  breach('a fragmented ping', frame('', { opcode: 9, fin: false })),
  breach('a fragmented close', frame('', { opcode: 8, fin: false })),
  breach('a ping of 126 bytes', frame('x'.repeat(126), { opcode: 9 })),
  breach('a close of 126 bytes', frame(closePayload(1000, 'x'.repeat(124)), { opcode: 8 })),
  breach('a continuation of nothing', frame('x', { opcode: 0 })),
  breach('a message within a fragmented one', Buffer.concat([frame('{', { fin: false }), frame('}')])),
  badClose('a close of one byte', 'x'),
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 65_535].map((code) =>
    badClose(`a close with the code ${code}`, closePayload(code)),
  ),
  badClose('a close whose reason is not UTF-8', Buffer.from([0x03, 0xe8, 0xff]), 1007),
  breach('text that is not UTF-8', frame(new Uint8Array([0xc3, 0x28])), 1007),
  breach(
    'text that is not UTF-8 in its second fragment',
    Buffer.concat([frame('{', { fin: false }), frame(new Uint8Array([0xff]), { opcode: 0 })]),
    1007,
  ),
  breach('a message of 8 MiB', frame('x'.repeat(8_388_608)), 1009),
  breach('a length of 2^40 that never comes', frame('x', { length: 2n ** 40n }), 1009),
  breach('a length with its highest bit', frame('x', { length: 2n ** 63n }), 1009),
  breach(
    'fragments that are too large together',
    Buffer.concat([
      frame('x'.repeat(900_000), { fin: false }),
      ...Array.from({ length: 8 }, () => frame('x'.repeat(900_000), { opcode: 0, fin: false })),
      frame('x', { opcode: 0 }),
    ]),
    1009,
  ),
];

/** Messages in frames that are as they should be: each is answered with an error, and the socket serves on. */
export const malformedMessages: readonly (readonly [name: string, text: string])[] = [
  ['no JSON', '{'],
  ['an empty message', ''],
  ['a number', '5'],
  ['an unknown method', '{"id":1,"method":"dance"}'],
  ['an id that is an object', '{"id":{},"method":"query","params":{"path":"hello"}}'],
  ['an id that is not there', '{"method":"query","params":{"path":"nil"}}'],
  ['a procedure that is not there', '{"id":1,"method":"query","params":{"path":"gone"}}'],
  ['a path of __proto__', '{"id":1,"method":"query","params":{"path":"__proto__"}}'],
  ['50,000 arrays within another', '['.repeat(50_000)],
  ['a batch of 1,000 that are none', `[${'5,'.repeat(999)}5]`],
];
