import * as fc from 'fast-check';
import { authorization, type BadRequest, contentTypeJson, mostly } from './badRequest.ts';

// Queries and paths that a client can send: bytes 0x21 to 0xff.

const latin1Text = fc.string({
  unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
  maxLength: 12,
});

const escapes = fc.constantFrom(
  '%',
  '%%',
  '%z',
  '%zz',
  '%0',
  '%00',
  '%0d%0a',
  '%2F',
  '%2f..%2f',
  '%5c',
  '%2e%2e',
  '..',
  '.',
  '%25',
  '%2500',
  '%c0%af',
  '%c0%ae%c0%ae',
  '%e0%80%af',
  '%ed%a0%80',
  '%f4%90%80%80',
  '%ff',
  '%fe%ff',
  '%F0%9F%90%B6',
  '%u0031',
  '+',
  ';',
  '=',
  '[]',
  '%5B%5D',
  '\xff',
  '\xc0\xaf',
  '"',
  '<',
  '\\',
  '{',
  '|',
  '^',
  '`',
  '~',
  ',',
  ':',
  '@',
  '*',
);

const word = fc.oneof(
  escapes,
  latin1Text,
  fc.array(fc.oneof(escapes, latin1Text), { maxLength: 4 }).map((parts) => parts.join('')),
);
// The parser accepts a head of up to 16,384 bytes and rejects longer ones.
const longText = fc
  .tuple(
    mostly(fc.constantFrom(300, 4000, 14_000), fc.constant(20_000)),
    fc.constantFrom('a', '%00', '9', '/', '%2e'),
  )
  .map(([length, text]) => text.repeat(length / text.length));

const names = fc.constantFrom(
  'limit',
  'status',
  'cursor',
  'petId',
  'input',
  'batch',
  'l%69mit',
  'limit%00',
  'limit[]',
  'Limit',
  'input.json',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '__proto__[limit]',
  'hasOwnProperty',
  'connectionParams',
  '',
);
const json = fc
  .oneof(
    fc.constantFrom(
      '{}',
      '{"limit":5}',
      '{"petId":1}',
      '{"0":{}}',
      '{"0":{"petId":1},"1":{}}',
      '{"limit":"5"}',
      '[]',
      'null',
      '{',
      '{"__proto__":{"limit":5}}',
      '{"limit":1e400}',
      '{"petId":9007199254740993}',
      '"x"',
      '5',
      '{"1":{}}',
      '\ufeff{}',
    ),
    fc.json(),
  )
  .map(encodeURIComponent);
const value = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '1',
      '5',
      '100',
      '101',
      '0',
      '-1',
      '-0',
      '5.0',
      '1e1',
      'sold',
      'available',
      '',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('9007199254740993', '9223372036854775808', '9'.repeat(400), '%31', '0x5'),
  },
  { weight: 3, arbitrary: json },
  { weight: 3, arbitrary: word },
  { weight: 1, arbitrary: longText },
);

const pair = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fc.oneof(names, names, word), value).map(([name, text]) => `${name}=${text}`),
  },
  names,
  word,
);
const query = mostly(
  fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&')),
  fc.tuple(names, value, fc.constantFrom(2, 50, 400)).map(([name, text, count]) => {
    return Array.from({ length: count }, () => `${name}=${text.slice(0, 20)}`).join('&');
  }),
  fc.constantFrom(
    '&'.repeat(4000),
    'a&'.repeat(4000),
    '='.repeat(4000),
    Array.from({ length: 1500 }, (_, at) => `k${at}=1`).join('&'),
  ),
);

const validHeaders: BadRequest['headers'] = [authorization];
const validJsonHeaders: BadRequest['headers'] = [authorization, contentTypeJson];
const validBody = Buffer.from('{"name":"Ada","categoryId":1}');

/** Requests with an invalid query. */
export const badQueries: fc.Arbitrary<BadRequest> = fc
  .tuple(
    mostly(
      fc.constantFrom('/v1/pets', '/trpc/listPets', '/trpc/getPet', '/trpc/listPets,getPet'),
      fc.constantFrom('/v1/pets/1', '/trpc/createPet', '/trpc', '/openapi.json', '/healthz', '/'),
    ),
    query,
    mostly(fc.constant('GET'), fc.constantFrom('HEAD', 'POST', 'OPTIONS')),
  )
  .map(([path, text, method]) => ({
    method,
    target: `${path}?${text}`,
    headers: method === 'POST' ? validJsonHeaders : validHeaders,
    body: method === 'POST' ? validBody : undefined,
  }));

const segment = fc.oneof({ weight: 6, arbitrary: word }, { weight: 1, arbitrary: longText }, fc.constant(''));
const path = fc
  .tuple(
    fc.constantFrom(
      '/v1/pets/',
      '/v1/pets/',
      '/v1/',
      '/trpc/',
      '/trpc/getPet,',
      '/',
      '//',
      '/v1//pets/',
      '/V1/pets/',
      '/v1/pets',
    ),
    fc.array(segment, { minLength: 1, maxLength: 3 }),
  )
  .map(([base, segments]) => `${base}${segments.join('/')}`);

const methods = mostly(
  fc.constant('GET'),
  fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  fc.constantFrom('TRACE', 'PROPFIND', 'QUERY', 'PRI', 'X', '$', 'A'.repeat(200)),
);

/** Requests with an invalid path or method. */
export const badPaths: fc.Arbitrary<BadRequest> = fc
  .tuple(mostly(path, fc.constantFrom('/v1/pets', '/v1/pets/1', '/trpc/listPets', '/openapi.json')), methods)
  // TRACE is the only method that tRPC's adapter does not handle: 500, as from its own server.
  .filter(([target, method]) => method !== 'TRACE' || !target.startsWith('/trpc'))
  .map(([target, method]) => {
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    return {
      method,
      target,
      headers: hasBody ? validJsonHeaders : validHeaders,
      body: hasBody ? validBody : undefined,
    };
  });
