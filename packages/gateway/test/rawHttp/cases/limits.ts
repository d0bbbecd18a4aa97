import { rawCases } from '../rawCase.ts';
import { get, list, smuggled } from '../wire.ts';

const uri = 'RFC 9110 §15.5.15: 414.';
const fields = 'RFC 6585 §5: 431.';
const long = (length: number) => `/v1/pets?q=${'a'.repeat(length - 11)}`;
const header = (length: number) => `A: ${'b'.repeat(length - 5)}\r\n`;

export const limitCases = rawCases([
  [
    'a target of 16,384 bytes is served',
    'RFC 9110 §4.1: 8,000 at least.',
    get('', long(16_384)),
    [`GET ${long(16_384)}`],
    '200, open',
    '431, closed',
  ],
  ['a target of one byte more is refused', uri, get('', long(16_385)), [], '414, closed', '431, closed'],
  ['a target of 30,000 bytes is refused', uri, get('', long(30_000)), [], '414, closed', '431, closed'],
  [
    'a path of 30,000 bytes is refused',
    uri,
    get('', `/${'a'.repeat(30_000)}`),
    [],
    '414, closed',
    '431, closed',
  ],
  [
    'a target of 100,000 bytes is refused',
    uri,
    get('', long(100_000)),
    [],
    '431 by the parser, closed',
    '431, closed',
  ],
  [
    'header lines of 16,384 bytes are served',
    fields,
    get(header(16_375)),
    [list],
    '200, open',
    '431, closed',
  ],
  [
    'header lines of one byte more are refused',
    fields,
    get(header(16_376)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'many header lines of 20,000 bytes together are refused',
    fields,
    get(header(2000).repeat(10)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'header lines of 100,000 bytes are refused',
    fields,
    get(header(100_000)),
    [],
    '431 by the parser, closed',
    '431, closed',
  ],
  [
    'a method of 20,000 bytes is refused',
    'RFC 9112 §3: 501; this host says 400, since 5xx is for its own faults.',
    `${'A'.repeat(20_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    [],
    '400, closed',
    '400, closed',
  ],
  [
    'a method of 100,000 bytes is refused',
    'RFC 9112 §3: 501; this host says 400, since 5xx is for its own faults.',
    `${'A'.repeat(100_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    [],
    '431 by the parser, closed',
    '400, closed',
  ],
  [
    'a request behind a target that is too long is not run',
    uri,
    get('', long(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'a request behind headers that are too long is not run',
    fields,
    get(header(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'a body of a request with headers that are too long is not run',
    fields,
    get(`${header(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    [],
    '431, closed',
    '431, closed',
  ],
]);
