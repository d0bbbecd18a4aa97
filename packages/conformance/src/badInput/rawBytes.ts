import * as fc from 'fast-check';
import { apiKey } from './badRequest.ts';

// Bytes on a socket that no HTTP client would send.

const head = (line: string, ...headers: readonly string[]) =>
  [line, 'Host: localhost', `Authorization: Bearer ${apiKey}`, ...headers, '', ''].join('\r\n');
const pet = '{"name":"Ada","categoryId":1}';
const json = 'Content-Type: application/json';

const validRequest = fc.constantFrom(
  head('GET /v1/pets?limit=1 HTTP/1.1'),
  head('GET /trpc/listPets HTTP/1.1'),
  head('GET /v1/pets/1 HTTP/1.1', 'Connection: close'),
  head('POST /v1/pets HTTP/1.1', json, `Content-Length: ${pet.length}`) + pet,
  head('POST /trpc/createPet HTTP/1.1', json, `Content-Length: ${pet.length}`) + pet,
  `${head('POST /v1/pets HTTP/1.1', json, 'Transfer-Encoding: chunked')}${pet.length.toString(16)}\r\n${pet}\r\n0\r\n\r\n`,
  head('GET /v1/pets HTTP/1.1').repeat(20),
);

const framing = fc.constantFrom(
  'Content-Length: -1',
  'Content-Length: 0x10',
  'Content-Length: 9999999999999999999',
  'Content-Length: 5, 5',
  'Content-Length:',
  'Content-Length: 3\r\nContent-Length: 4',
  'Content-Length : 5',
  'Content-Length: 1e3',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 3',
  'Expect: 100-continue',
  'Expect: x',
  'TE : x',
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x',
  'Upgrade: h2c',
  'No colon',
  ': no name',
  'A: b\r\n folded',
  'A: \0',
  'A: \x01\x7f',
  'Host: other',
  'Host:',
  'X\xff: y',
  `X: ${'y'.repeat(20_000)}`,
  Array.from({ length: 300 }, (_, at) => `H${at}: x`).join('\r\n'),
);
const bodies = fc.constantFrom(
  '',
  'abc',
  '3\r\nabc\r\n0\r\n\r\n',
  'fffffffffffffffff\r\n',
  '-1\r\n',
  'z\r\n',
  '3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n',
);
const framed = fc
  .tuple(fc.constantFrom('GET /v1/pets', 'POST /v1/pets', 'POST /trpc/createPet'), framing, bodies)
  .map(([start, header, body]) => head(`${start} HTTP/1.1`, json, header) + body);

const lines = fc.constantFrom(
  'GET',
  'GET ',
  'GET /',
  'GET / HTTP/1.0',
  'GET / HTTP/9.9',
  'GET / HTTP/2.0',
  'GET  / HTTP/1.1',
  '\r\n\r\n',
  ' ',
  'get /v1/pets HTTP/1.1',
  'GET /v1/pets http/1.1',
  'GET\t/v1/pets\tHTTP/1.1',
  'GET http://x/v1/pets HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'CONNECT x:1 HTTP/1.1',
  'GET /v1/pets?\0 HTTP/1.1',
  'GET /v1/pets?a b HTTP/1.1',
  'GET pets HTTP/1.1',
  'GE}T /v1/pets HTTP/1.1',
  'GE}T /trpc/listPets HTTP/1.1',
  'GET /v1/pets\xff\xfe HTTP/1.1',
  `GET /${'a'.repeat(40_000)} HTTP/1.1`,
  `${'A'.repeat(40_000)} / HTTP/1.1`,
  '\xef\xbb\xbfGET / HTTP/1.1',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'GET /../../etc/passwd HTTP/1.1',
  'GET /%',
);
const started = fc
  .tuple(lines, fc.boolean())
  .map(([line, isWhole]) => (isWhole ? head(line) : `${line}\r\n\r\n`));

/** A relative position, from 0 to 1. Not `fc.double`: nearly all of its values are close to 0. */
const share = fc.nat(1000).map((thousandths) => thousandths / 1000);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 6 }).map((values) => Buffer.from(values));

/** Valid requests with a few bytes inserted, removed or replaced. */
const patched = fc
  .tuple(
    validRequest,
    fc.array(fc.tuple(share, bytes, fc.integer({ min: 0, max: 4 })), { minLength: 1, maxLength: 4 }),
  )
  .map(([text, patches]) =>
    patches.reduce(
      (whole, [position, piece, removed]) => {
        const from = Math.floor(whole.length * position);
        return Buffer.concat([whole.subarray(0, from), piece, whole.subarray(from + removed)]);
      },
      Buffer.from(text, 'latin1'),
    ),
  );
const truncated = fc
  .tuple(validRequest, share)
  .map(([text, to]) => Buffer.from(text, 'latin1').subarray(0, Math.floor(text.length * to)));
const random = fc.uint8Array({ maxLength: 3000 }).map((values) => Buffer.from(values));

/** Bytes for a connection: patched, truncated, wrongly framed or random requests. */
export const rawBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: patched },
  { weight: 2, arbitrary: framed.map((text) => Buffer.from(text, 'latin1')) },
  { weight: 2, arbitrary: started.map((text) => Buffer.from(text, 'latin1')) },
  { weight: 1, arbitrary: truncated },
  { weight: 1, arbitrary: random },
);
