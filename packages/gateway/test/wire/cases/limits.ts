import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, smuggled } from '../rawRequests.ts';

const targetLimit = 'RFC 9110 §15.5.15: 414.';
const headerLimit = 'RFC 6585 §5: 431.';
const longTarget = (length: number) => `/v1/pets?q=${'a'.repeat(length - 11)}`;
const longHeader = (length: number) => `A: ${'b'.repeat(length - 5)}\r\n`;

export const limitCases: readonly RawCase[] = [
  ...rawCases({ uws: '200, open', serves: [`GET ${longTarget(16_384)}`] }, [
    ['RFC 9110 §4.1: 8,000 at least.', 'a target of 16,384 bytes is served', get('', longTarget(16_384))],
  ]),
  ...rawCases({ uws: '414, closed', serves: [] }, [
    [targetLimit, 'a target of 16,385 bytes is rejected', get('', longTarget(16_385))],
  ]),
  ...rawCases({ uws: '200, open', serves: [list] }, [
    [headerLimit, 'header lines of 16,384 bytes are served', get(longHeader(16_375))],
  ]),
  ...rawCases({ uws: '431, closed', serves: [] }, [
    [headerLimit, 'header lines of 16,385 bytes are rejected', get(longHeader(16_376))],
    [
      headerLimit,
      'the body of a request with headers over the limit is not run as a request',
      get(`${longHeader(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [
      'RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.',
      'a method of 20,000 bytes is rejected',
      `${'A'.repeat(20_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    [headerLimit, 'a request after headers over the limit is not run', get(longHeader(20_000)) + smuggled],
  ]),
];
