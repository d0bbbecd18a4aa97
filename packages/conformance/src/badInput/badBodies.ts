import * as fc from 'fast-check';
import { authorization, type BadRequest, contentTypeJson, mostly } from './badRequest.ts';

// Valid JSON bodies that were truncated, patched, nested or inflated.

const newPet = fc
  .record(
    {
      name: fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 12 }),
        fc.string({ unit: 'binary', maxLength: 6 }),
      ),
      categoryId: fc.oneof(fc.maxSafeInteger(), fc.nat(9)),
      status: fc.constantFrom('available', 'pending', 'sold'),
      id: fc.nat(9),
    },
    { requiredKeys: ['name', 'categoryId'] },
  )
  .map((pet) => JSON.stringify(pet));

/** Bytes that make text or JSON invalid, or confuse its parsers. */
const pieces = fc
  .constantFrom(
    '\0',
    '"',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\\',
    '\\u',
    '\\ud800',
    '\\udc00\\ud800',
    '\\u0000',
    '\n',
    '\u2028',
    '//',
    '/**/',
    "'",
    'NaN',
    'null',
    'true',
    'undefined',
    '1e400',
    '-',
    '-0',
    '0x1',
    '1_0',
    '.5',
    '\ufeff',
  )
  .map((text) => Buffer.from(text));
const brokenUtf8 = fc
  .constantFrom(
    'ff',
    '80',
    'c080',
    'c0af',
    'eda080',
    'edbfbf',
    'f4908080',
    'f8888080',
    'e282',
    'f09f',
    'efbbbf',
    'fffe',
    'feff',
  )
  .map((hex) => Buffer.from(hex, 'hex'));
const piece = fc.oneof(
  pieces,
  brokenUtf8,
  fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);

const numbers = fc.constantFrom(
  '9007199254740993',
  '-9007199254740993',
  '1e999999',
  '-1e400',
  '01',
  '+1',
  '5.',
  '1e',
  'Infinity',
  '1e-400',
  '5.5',
  '9'.repeat(400),
  `0.${'0'.repeat(20_000)}1`,
  `1${'0'.repeat(400)}`,
  `5.${'0'.repeat(50)}1`,
  `1e${'9'.repeat(50)}`,
);

const members = fc.constantFrom(
  '"name":null',
  '"name":"again"',
  '"categoryId":"5"',
  '"categoryId":7',
  '"status":"lost"',
  '"status":null',
  '"__proto__":{"name":"x"}',
  '"constructor":{"prototype":{"status":"sold"}}',
  '"toString":1',
  '"then":{}',
  '"":0',
);

/** An unknown member that is deep, wide or both, with or without a number that a double cannot hold. */
const nested = fc
  .record({
    depth: mostly(fc.constantFrom(3, 100, 1500), fc.constantFrom(5000, 100_000)),
    width: mostly(fc.constantFrom(1, 50), fc.constantFrom(2000, 40_000)),
    leaf: fc.constantFrom('1', '1e400', '5.00000000000000001', '"x"', '{}', '{"a":0.1}'),
    isObject: fc.boolean(),
  })
  .map(({ depth, width, leaf, isObject }) => {
    const [open, close] = isObject ? ['{"a":', '}'] : ['[', ']'];
    return `"deep":${open.repeat(depth)}[${Array.from({ length: width }, () => leaf).join()}]${close.repeat(depth)}`;
  });

const long = fc.constantFrom(
  `"name":"${'x'.repeat(100_000)}"`,
  `"name":"${'\\u0000'.repeat(10_000)}"`,
  `"${'k'.repeat(100_000)}":1`,
  Array.from({ length: 5000 }, (_, at) => `"k${at}":${at}`).join(),
  Array.from({ length: 5000 }, () => '"name":1').join(),
  `"blob":"${'x'.repeat(1_100_000)}"`,
);

type Spoil = (body: Buffer) => Buffer;

const at = (body: Buffer, share: number) => Math.floor(body.length * share);
/** A relative position, from 0 to 1. Not `fc.double`: nearly all of its values are close to 0. */
const share = fc.nat(1000).map((thousandths) => thousandths / 1000);
const addMember =
  (text: string, isFirst: boolean): Spoil =>
  (body) => {
    const json = body.toString();
    return Buffer.from(
      isFirst ? json.replace('{', () => `{${text},`) : json.replace(/\}\s*$/, () => `,${text}}`),
    );
  };

const spoil: fc.Arbitrary<Spoil> = fc.oneof(
  {
    weight: 2,
    arbitrary: share.map(
      (to): Spoil =>
        (body) =>
          body.subarray(0, at(body, to)),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(piece, share).map(([bytes, to]): Spoil => (body) => {
      return Buffer.concat([body.subarray(0, at(body, to)), bytes, body.subarray(at(body, to))]);
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(share, fc.integer({ min: 1, max: 6 })).map(([from, count]): Spoil => (body) => {
      return Buffer.concat([body.subarray(0, at(body, from)), body.subarray(at(body, from) + count)]);
    }),
  },
  {
    weight: 4,
    arbitrary: numbers.map(
      (text): Spoil =>
        (body) =>
          Buffer.from(body.toString().replace(/-?\d+/, text)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(members, fc.boolean()).map(([text, isFirst]) => addMember(text, isFirst)),
  },
  { weight: 2, arbitrary: fc.tuple(nested, fc.boolean()).map(([text, isFirst]) => addMember(text, isFirst)) },
  { weight: 1, arbitrary: fc.tuple(long, fc.boolean()).map(([text, isFirst]) => addMember(text, isFirst)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Spoil[]>(
      (body) => Buffer.from(body.toString(), 'utf16le'),
      (body) => Buffer.concat([Buffer.from('efbbbf', 'hex'), body]),
      (body) => Buffer.concat([body, body]),
      (body) => Buffer.concat([Buffer.from('['), body, Buffer.from(']')]),
      (body) => Buffer.from(JSON.stringify(body.toString())),
      () => Buffer.from('['.repeat(500_000)),
      () => Buffer.from('{"a":'.repeat(100_000)),
      () => Buffer.from(''),
      () => Buffer.alloc(1000),
    ),
  },
);

const body = fc
  .tuple(newPet, fc.array(spoil, { maxLength: 3 }))
  // At most twice the default maximum size of a body.
  .map(([text, spoils]) =>
    spoils.reduce<Buffer>((bytes, change) => change(bytes).subarray(0, 2 ** 21), Buffer.from(text)),
  );

/** The targets of a body. In a valid batch a single call can be invalid. */
const places = fc.constantFrom<(readonly [target: string, wrap: Spoil])[]>(
  ['/v1/pets', (bytes) => bytes],
  ['/v1/pets', (bytes) => bytes],
  ['/trpc/createPet', (bytes) => bytes],
  ['/trpc/createPet?batch=1', (bytes) => Buffer.concat([Buffer.from('{"0":'), bytes, Buffer.from('}')])],
  [
    '/trpc/createPet,createPet?batch=1',
    (bytes) =>
      Buffer.concat([Buffer.from('{"0":{"name":"Ada","categoryId":1},"1":'), bytes, Buffer.from('}')]),
  ],
);

/** Creates with an invalid body, over REST and tRPC. */
export const badBodies: fc.Arbitrary<BadRequest> = fc
  .tuple(places, body, mostly(fc.constant(false), fc.constant(true)))
  .map(([[target, wrap], bytes, chunked]) => ({
    method: 'POST',
    target,
    headers: [authorization, contentTypeJson],
    body: wrap(bytes),
    chunked,
  }));
