import { rawCases } from '../rawCase.ts';
import { get, list, smuggled } from '../rawRequests.ts';

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
  ['a target of 16,385 bytes is rejected', uri, get('', long(16_385)), [], '414, closed', '431, closed'],
  ['a target of 30,000 bytes is rejected', uri, get('', long(30_000)), [], '414, closed', '431, closed'],
  [
    'a path of 30,000 bytes is rejected',
    uri,
    get('', `/${'a'.repeat(30_000)}`),
    [],
    '414, closed',
    '431, closed',
  ],
  [
    'a target of 100,000 bytes is rejected',
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
    'header lines of 16,385 bytes are rejected',
    fields,
    get(header(16_376)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'many header lines of 20,000 bytes together are rejected',
    fields,
    get(header(2000).repeat(10)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'header lines of 100,000 bytes are rejected',
    fields,
    get(header(100_000)),
    [],
    '431 by the parser, closed',
    '431, closed',
  ],
  [
    'a method of 20,000 bytes is rejected',
    'RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.',
    `${'A'.repeat(20_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    [],
    '400, closed',
    '400, closed',
  ],
  [
    'a method of 100,000 bytes is rejected',
    'RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.',
    `${'A'.repeat(100_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    [],
    '431 by the parser, closed',
    '400, closed',
  ],
  [
    'a request after a target over the limit is not run',
    uri,
    get('', long(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'a request after headers over the limit is not run',
    fields,
    get(header(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'the body of a request with headers over the limit is not run as a request',
    fields,
    get(`${header(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    [],
    '431, closed',
    '431, closed',
  ],
]);
