import { Random } from './random.ts';
import { frame, type FrameReader } from './webSocketFrame.ts';

const query = (params: string, id = '1') => `{"id":${id},"method":"query","params":${params}}`;

/** A query sent last. Its response shows that the socket still works. */
export const sentinel = frame(query('{"path":"hello"}', '"sentinel"'));
/** Returns whether the sentinel was answered. */
export const isServed = ({ texts }: FrameReader) => texts.some((text) => text.includes('"sentinel"'));

/** Valid messages that the fuzzer mutates. */
const seeds = [
  query('{"path":"hello","input":{"name":"Rex"}}'),
  query('{"path":"add","input":{"a":1,"b":2}}', '"text"'),
  query('{"path":"echo","input":[1,null,{"a":[]}]}'),
  '{"id":3,"method":"mutation","params":{"path":"write","input":{"name":"x"}}}',
  '{"id":4,"jsonrpc":"2.0","method":"subscription","params":{"path":"count","input":{"to":3}}}',
  '{"id":5,"method":"subscription","params":{"path":"numbered","input":{"to":9},"lastEventId":"7"}}',
  '{"id":5,"method":"subscription.stop"}',
  '{"id":6,"method":"subscription","params":{"path":"watch"}}',
  '[{"id":7,"method":"query","params":{"path":"nil"}},{"id":8,"method":"query","params":{"path":"gone"}}]',
  '{"method":"connectionParams","data":{"token":"x"}}',
  'PING',
  'PONG',
];
const fragments = [
  '"',
  '{',
  '[',
  'null',
  '1e999',
  '-0',
  '\\u0000',
  '__proto__',
  '"id":',
  '😀',
  ',,',
  '"watch"',
];

function mutate(random: Random): string {
  let text = random.pick(seeds);
  for (let left = random.below(4); left >= 0; left -= 1) {
    const at = random.below(text.length + 1);
    const [before, after] = [text.slice(0, at), text.slice(at)];
    const mutations = [
      () => before + after.slice(1),
      () => before + random.pick(fragments) + after,
      () => before + String.fromCodePoint(random.below(0x2000)) + after.slice(1),
      () => before,
      () => text + after,
      () => before + random.pick(seeds) + after,
    ];
    text = random.pick(mutations)();
  }
  return text;
}

/** Returns a fuzzed message as a frame: usually a valid one, sometimes fragmented, binary or malformed. */
function fuzzedFrame(random: Random): Buffer {
  const bytes = Buffer.from(mutate(random));
  const at = random.below(bytes.length + 1);
  const chance = random.below(200);
  if (chance === 0) return frame(bytes, { opcode: random.below(16), fin: random.fraction() < 0.5 });
  if (chance === 1) return frame(bytes, { rsv: random.below(8) });
  // Padding for the announced length: without it the frame would swallow the frames that follow.
  if (chance === 2) return Buffer.concat([frame(bytes, { length: random.below(200) }), Buffer.alloc(400)]);
  if (chance === 3) return frame(bytes.fill(random.below(256), at, Math.min(at + 1, bytes.length)));
  if (chance < 20) return frame(bytes.subarray(0, 125), { opcode: 9 });
  if (chance < 40) return frame(bytes, { opcode: 2 });
  if (chance < 70) {
    return Buffer.concat([
      frame(bytes.subarray(0, at), { fin: false }),
      frame('between', { opcode: 9 }),
      frame(bytes.subarray(at), { opcode: 0 }),
    ]);
  }
  return frame(bytes);
}

/** Returns the 1 to 20 frames that one connection sends. They depend on `seed` and `index` only. */
export function fuzzedFrames(seed: number, index: number): Buffer[] {
  const random = new Random(seed * 100_003 + index);
  return Array.from({ length: 1 + random.below(20) }, () => fuzzedFrame(random));
}
