import { Random } from '@petstore/testing/random';
import { chunked, chunkedPet, get, pet, petLength, post, smuggled, smuggledCreate } from './rawRequests.ts';

/** Valid requests, some with another request in the body or after it. */
const validRequests: readonly string[] = [
  get(),
  get('Connection: keep-alive\r\nAccept: */*\r\n', '/v1/pets?limit=5&status=available'),
  get('', '/a') + get('', '/b') + get('', '/c'),
  get('Connection: close\r\n') + smuggled,
  get(`Content-Length: ${smuggled.length}\r\n`) + smuggled,
  post(petLength, pet) + smuggled,
  post(`Content-Length: ${smuggledCreate.length}\r\n`, smuggledCreate),
  post(chunked, chunkedPet),
  post(chunked, `${chunkedPet.slice(0, -2)}A: b\r\n\r\n`) + smuggled,
  post(chunked, `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`) + smuggledCreate,
  post(`Expect: 100-continue\r\n${petLength}`, pet),
  get(
    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  ),
  `OPTIONS /v1/pets HTTP/1.1\r\nHost: localhost:3000\r\nOrigin: http://x\r\n\r\n${smuggled}`,
];

const linesOf = (name: string, ...values: readonly string[]) => values.map((value) => `${name}:${value}\r\n`);

const fragments: readonly string[] = [
  ...'\n\r \t\0\x7f\xff\x85\xa0:;,"#?019f'.split(''),
  '\r\n',
  '\r\n\r\n',
  'HTTP/1.0',
  'HTTP/1.1',
  ...linesOf('Content-Length', '', ' 0', ' 5', ' +5', ' 5, 5'),
  ...linesOf('content-length', ' 35'),
  ...linesOf('Transfer-Encoding', '', ' chunked', ' identity', ' chunked, identity'),
  ...linesOf('transfer-encoding', ' xchunked'),
  ...linesOf('Host', '', ' x', ' x, y'),
  ...linesOf('Connection', ' close', ' keep-alive, Close'),
  ...linesOf('Expect', ' x', ' 100-continue'),
  // Without a name, folded, with a blank before the colon, and with a bare LF.
  ': a\r\n',
  ' folded\r\n',
  'A : b\r\n',
  'A: b\nC: d\r\n',
  // Sizes of chunks.
  '0\r\n\r\n',
  '5\r\n',
  'fffffffffffffffff\r\n',
  '5;a=b\r\n',
  smuggled,
  smuggledCreate,
  pet,
  'a'.repeat(300),
  'A: b\r\n'.repeat(60),
];

/** Returns mutated requests, divided into the pieces to send. The same seed and index return the same pieces. */
export function mutation(seed: number, index: number): readonly string[] {
  const random = new Random(Math.imul(seed, 1_000_003) ^ Math.imul(index, 2_654_435_761));
  const next = (below: number) => random.below(below);
  let bytes = random.pick(validRequests);
  const change = (at: number, removed: number, added: string) => {
    bytes = bytes.slice(0, at) + added + bytes.slice(at + removed);
  };
  const lineStart = () => {
    const starts = [...bytes.matchAll(/\r\n/g)].map((match) => match.index + 2);
    return starts.length === 0 ? 0 : random.pick(starts);
  };
  const insertAtLineStart = () => change(lineStart(), 0, random.pick(fragments));
  const changes: readonly ((at: number) => void)[] = [
    (at) => change(at, 1, String.fromCharCode(next(256))),
    (at) => change(at, 0, random.pick(fragments)),
    // Twice: random bytes inside a word are rejected early and reach little code.
    insertAtLineStart,
    insertAtLineStart,
    (at) => change(at, 1 + next(12), ''),
    (at) => change(at, 0, bytes.slice(at, at + 1 + next(40))),
    () => change(lineStart(), 0, bytes.slice(lineStart(), lineStart() + next(60))),
    () => void (bytes += random.pick(validRequests)),
  ];
  for (let left = 1 + next(4); left > 0; left -= 1) random.pick(changes)(next(bytes.length + 1));
  if (next(3) !== 0) return [bytes];
  const cuts = Array.from({ length: 1 + next(4) }, () => next(bytes.length + 1)).toSorted((a, b) => a - b);
  return [0, ...cuts].map((from, at) => bytes.slice(from, cuts[at])).filter((piece) => piece !== '');
}
