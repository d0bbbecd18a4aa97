import { rawCases } from '../rawCase.ts';
import { get, list, smuggled } from '../rawRequests.ts';

const targetLimit = 'RFC 9110 §15.5.15: 414.';
const headerLimit = 'RFC 6585 §5: 431.';
const longTarget = (length: number) => `/v1/pets?q=${'a'.repeat(length - 11)}`;
const longHeader = (length: number) => `A: ${'b'.repeat(length - 5)}\r\n`;

export const limitCases = rawCases([
  [
    'a target of 16,384 bytes is served',
    'RFC 9110 §4.1: 8,000 at least.',
    get('', longTarget(16_384)),
    [`GET ${longTarget(16_384)}`],
    '200, open',
    '431, closed',
  ],
  [
    'a target of 16,385 bytes is rejected',
    targetLimit,
    get('', longTarget(16_385)),
    [],
    '414, closed',
    '431, closed',
  ],
  [
    'a target of 30,000 bytes is rejected',
    targetLimit,
    get('', longTarget(30_000)),
    [],
    '414, closed',
    '431, closed',
  ],
  [
    'a path of 30,000 bytes is rejected',
    targetLimit,
    get('', `/${'a'.repeat(30_000)}`),
    [],
    '414, closed',
    '431, closed',
  ],
  [
    'a target of 100,000 bytes is rejected',
    targetLimit,
    get('', longTarget(100_000)),
    [],
    '431 by the parser, closed',
    '431, closed',
  ],
  [
    'header lines of 16,384 bytes are served',
    headerLimit,
    get(longHeader(16_375)),
    [list],
    '200, open',
    '431, closed',
  ],
  [
    'header lines of 16,385 bytes are rejected',
    headerLimit,
    get(longHeader(16_376)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'many header lines of 20,000 bytes together are rejected',
    headerLimit,
    get(longHeader(2000).repeat(10)),
    [],
    '431, closed',
    '431, closed',
  ],
  [
    'header lines of 100,000 bytes are rejected',
    headerLimit,
    get(longHeader(100_000)),
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
    targetLimit,
    get('', longTarget(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'a request after headers over the limit is not run',
    headerLimit,
    get(longHeader(20_000)) + smuggled,
    [],
    'nothing, closed',
    '431, closed',
  ],
  [
    'the body of a request with headers over the limit is not run as a request',
    headerLimit,
    get(`${longHeader(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    [],
    '431, closed',
    '431, closed',
  ],
]);
