import * as fc from 'fast-check';
import { apiKey, authorization, type BadRequest, contentTypeJson, headerText, mostly } from './badRequest.ts';

// Valid calls with invalid headers: headers that the server reads, and headers that it must ignore.

type Header = readonly [name: string, value: string];

const values = (name: string, ...texts: readonly string[]): fc.Arbitrary<Header> =>
  fc
    .oneof({ weight: 3, arbitrary: fc.constantFrom(...texts) }, headerText)
    .map((value) => [name, value] as const);

const credentials = values(
  'Authorization',
  '',
  'Bearer',
  'Bearer ',
  `bEARER  ${apiKey}  `,
  `Bearer ${apiKey}, Bearer x`,
  `Basic ${apiKey}`,
  apiKey,
  '\t',
  `Bearer ${apiKey}\xff`,
  `Bearer ${apiKey} x`,
  `Bearer "${apiKey}"`,
  'Bearer __proto__',
  'Bearer constructor',
  `Bearer ${'x'.repeat(8000)}`,
  `Bearer ${'='.repeat(100)}`,
  'Digest username="x"',
  'Negotiate',
  'Bearer =',
  '*',
);

const contentTypes = values(
  'Content-Type',
  '',
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json; charset=utf-16',
  'application/json;',
  'application/json; charset',
  'application/jsonp',
  'text/plain',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'application/json, text/plain',
  '*/*',
  ';',
  `application/json;${'a=b;'.repeat(2000)}`,
);

const otherHeader = fc.oneof(
  values(
    'X-Request-Id',
    '',
    'good-id-1',
    'a b',
    '<script>',
    '"',
    'x'.repeat(129),
    'x'.repeat(5000),
    '\xe9',
    '%0d%0aX: y',
  ),
  values('Content-Encoding', 'gzip', 'br', 'identity', 'deflate', 'zstd', 'gzip, gzip', 'x'),
  values('Expect', '100-continue', '100-Continue', '200-ok', ''),
  values('Accept', '*/*', 'text/html', 'text/event-stream', 'application/xml;q=0.1', ';;;', ','.repeat(3000)),
  values(
    'trpc-accept',
    'application/json',
    'application/jsonl',
    'text/event-stream',
    'application/jsonl, x',
    '',
  ),
  values('Idempotency-Key', '', '""', '"k1"', 'k1', 'k 2', '"', 'x'.repeat(256), '\xff', 'a,b'),
  values('X-HTTP-Method-Override', 'DELETE', 'PUT', 'CONNECT'),
  values('Last-Event-ID', '1', '__proto__'),
  values('Cookie', 'a=b', '='.repeat(500)),
  values('Range', 'bytes=0-', 'bytes=9-1'),
  values('If-None-Match', '*', 'W/"x"'),
  values('X-Forwarded-For', '127.0.0.1', '::1, x'),
  values('X-Forwarded-Host', 'evil.test', 'a b'),
  values('TE', 'trailers', 'chunked'),
  values('Origin', 'null', 'https://evil.test', 'x y'),
  values('Access-Control-Request-Method', 'POST', 'x y'),
  values('__proto__', 'x'),
  values('constructor', 'x'),
  headerText.map((value): Header => ['X'.repeat(200), value]),
);

const json = (text: string) => ({ method: 'POST', body: Buffer.from(text) });
const pet = '{"name":"Ada","categoryId":1}';
const calls = fc.constantFrom<Pick<BadRequest, 'method' | 'target' | 'body'>[]>(
  { method: 'GET', target: '/v1/pets?limit=1' },
  { method: 'GET', target: '/v1/pets/1' },
  { method: 'OPTIONS', target: '/v1/pets' },
  { method: 'HEAD', target: '/v1/pets' },
  { method: 'GET', target: '/openapi.json' },
  { target: '/v1/pets', ...json(pet) },
  { target: '/v1/pets', ...json(pet) },
  { method: 'GET', target: '/trpc/listPets' },
  {
    method: 'GET',
    target: `/trpc/listPets,getPet?batch=1&input=${encodeURIComponent('{"0":{"limit":2},"1":{"petId":1}}')}`,
  },
  { target: '/trpc/createPet', ...json(pet) },
  { target: '/trpc/createPet,createPet?batch=1', ...json(`{"0":${pet},"1":{}}`) },
);

/** Valid calls with one or more invalid headers. */
export const badHeaders: fc.Arbitrary<BadRequest> = fc
  .tuple(
    calls,
    mostly(fc.constant(authorization), credentials),
    mostly(fc.constant(contentTypeJson), contentTypes),
    fc.array(otherHeader, { maxLength: 3 }),
    fc.boolean(),
  )
  .map(([{ method, target, body }, credential, contentType, more, isTwice]) => {
    const headers = [credential, ...(body ? [contentType] : []), ...more];
    if (isTwice) headers.push(more.at(-1) ?? credential);
    return { method, target, headers, body };
  });
