import * as fc from 'fast-check';

/** A request that a client can send, valid or invalid. */
export interface BadRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  readonly chunked?: boolean;
}

export const apiKey = 'psk_badInput';
export const authorization: readonly [string, string] = ['Authorization', `Bearer ${apiKey}`];
export const contentTypeJson: readonly [string, string] = ['Content-Type', 'application/json'];

/** Formats a request for the message of a failed test; long values are truncated. */
export function show({ method, target, headers, body, chunked }: BadRequest): string {
  const text = (value: string | undefined) => {
    const quoted = JSON.stringify(value ?? '');
    return quoted.length > 400 ? `${quoted.slice(0, 400)}… (${quoted.length})` : quoted;
  };
  return [
    `${method} ${text(target)}`,
    ...headers.map(([name, value]) => `${name}: ${text(value)}`),
    ...(body ? [`${chunked ? 'chunked ' : ''}body ${text(body.toString('latin1'))}`] : []),
  ].join('\n  ');
}

const newPet = fc
  .record(
    {
      name: fc.string({ unit: 'grapheme', maxLength: 12 }),
      categoryId: fc.oneof(fc.maxSafeInteger(), fc.nat(9)),
      status: fc.constantFrom('available', 'pending', 'sold'),
      id: fc.nat(9),
    },
    { requiredKeys: ['name', 'categoryId'] },
  )
  .map((pet) => Buffer.from(JSON.stringify(pet)));

type Change = (body: Buffer) => Buffer;

/** Bytes that make text or JSON invalid, or confuse its parsers. */
const piece = fc.oneof(
  fc
    .constantFrom('\0', '"', '{', '}', ']', ',', '\\ud800', '\u2028', '/**/', 'NaN', '1e400', '-0', '.5')
    .map((text) => Buffer.from(text)),
  fc.constantFrom('ff', 'c0af', 'eda080', 'f09f', 'efbbbf', 'fffe').map((hex) => Buffer.from(hex, 'hex')),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);
const number = fc.constantFrom(
  '9007199254740993',
  '1e999999',
  '1e-400',
  '5.5',
  '01',
  '9'.repeat(400),
  `0.${'0'.repeat(20_000)}1`,
);
const member = fc.constantFrom(
  '"name":null',
  '"name":"again"',
  '"categoryId":"5"',
  '"then":{}',
  '"__proto__":{"name":"x"}',
  '"constructor":{"prototype":{"status":"sold"}}',
  `"deep":${'['.repeat(5000)}1e400${']'.repeat(5000)}`,
  `"blob":"${'x'.repeat(1_100_000)}"`,
);
const whole = fc.constantFrom<Change[]>(
  (body) => Buffer.from(body.toString(), 'utf16le'),
  (body) => Buffer.concat([body, body]),
  (body) => Buffer.from(JSON.stringify(body.toString())),
  () => Buffer.from('['.repeat(500_000)),
  () => Buffer.from(''),
);

/** Changes a body: inserts bytes, cuts it, replaces its number, adds a member, or replaces it. */
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(piece, fc.nat(1000)).map(([bytes, at]) => insert(bytes, at)) },
  {
    weight: 2,
    arbitrary: fc.nat(1000).map(
      (at): Change =>
        (body) =>
          body.subarray(0, position(body, at)),
    ),
  },
  {
    weight: 4,
    arbitrary: number.map((text): Change => (body) => {
      return Buffer.from(body.toString().replace(/-?\d+/, text));
    }),
  },
  {
    weight: 5,
    arbitrary: member.map((text): Change => (body) => {
      return Buffer.from(body.toString().replace(/\}\s*$/, () => `,${text}}`));
    }),
  },
  { weight: 1, arbitrary: whole },
);

function position(body: Buffer, thousandths: number): number {
  return Math.floor((body.length * thousandths) / 1000);
}

function insert(bytes: Buffer, thousandths: number): Change {
  return (body) => {
    const at = position(body, thousandths);
    return Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]);
  };
}

/** The targets of a body. In a valid batch a single call can be invalid. */
const place = fc.constantFrom<(readonly [target: string, before: string, after: string])[]>(
  ['/v1/pets', '', ''],
  ['/trpc/createPet', '', ''],
  ['/trpc/createPet,createPet?batch=1', '{"0":{"name":"Ada","categoryId":1},"1":', '}'],
);

/** Creates with an invalid body, over REST and tRPC. */
export const badBodies: fc.Arbitrary<BadRequest> = fc
  .tuple(place, newPet, fc.array(change, { maxLength: 3 }), fc.boolean())
  .map(([[target, before, after], pet, changes, chunked]) => ({
    method: 'POST',
    target,
    headers: [authorization, contentTypeJson],
    body: Buffer.concat([
      Buffer.from(before),
      changes.reduce<Buffer>((body, apply) => apply(body), pet),
      Buffer.from(after),
    ]),
    chunked,
  }));

const word = fc.oneof(
  fc.constantFrom('%', '%zz', '%00', '%0d%0a', '%2F', '%2e%2e', '..', '%25', '%c0%af', '%ff', '+', ';', '[]'),
  fc.constantFrom('1', '101', '-1', '5.0', '9007199254740993', 'sold', '', '9'.repeat(400), 'a'.repeat(4000)),
  fc.constantFrom('{"limit":5}', '{"petId":1e400}', '{', '{"0":{"petId":1}}', 'null').map(encodeURIComponent),
  // What a client can send: bytes 0x21 to 0xff.
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 12,
  }),
);
const name = fc.oneof(
  fc.constantFrom('limit', 'status', 'cursor', 'input', 'batch', 'l%69mit', '__proto__', 'constructor', ''),
  word,
);
const query = fc
  .array(
    fc.tuple(name, word).map((pair) => pair.join('=')),
    { maxLength: 4 },
  )
  .map((pairs) => pairs.join('&'));
const path = fc.oneof(
  fc.constantFrom('/v1/pets', '/v1/pets/1', '/trpc/listPets', '/trpc/getPet,listPets', '/openapi.json', '/'),
  fc
    .tuple(fc.constantFrom('/v1/pets/', '/v1/', '/trpc/', '/'), fc.array(word, { maxLength: 2 }))
    .map(([base, segments]) => base + segments.join('/')),
);

/** Requests with an invalid path or query. */
export const badTargets: fc.Arbitrary<BadRequest> = fc
  .tuple(path, query, fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'DELETE', 'OPTIONS'))
  .map(([to, text, method]) => ({ method, target: `${to}?${text}`, headers: [authorization] }));
