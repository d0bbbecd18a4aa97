import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, smuggled } from '../rawRequests.ts';

const targetLimit = 'RFC 9110 §15.5.15: 414.';
const headerLimit = 'RFC 6585 §5: 431.';
const longTarget = (length: number) => `/v1/pets?q=${'a'.repeat(length - 11)}`;
const longHeader = (length: number) => `A: ${'b'.repeat(length - 5)}\r\n`;

export const limitCases: readonly RawCase[] = [
  ...rawCases(
    { rule: 'RFC 9110 §4.1: 8,000 at least.', serves: [`GET ${longTarget(16_384)}`], uws: '200, open' },
    [['a target of 16,384 bytes is served', get('', longTarget(16_384))]],
  ),
  ...rawCases({ rule: targetLimit, serves: [], uws: '414, closed' }, [
    ['a target of 16,385 bytes is rejected', get('', longTarget(16_385))],
    ['a target of 30,000 bytes is rejected', get('', longTarget(30_000))],
    ['a path of 30,000 bytes is rejected', get('', `/${'a'.repeat(30_000)}`)],
  ]),
  ...rawCases({ rule: targetLimit, serves: [], uws: '431 by the parser, closed' }, [
    ['a target of 100,000 bytes is rejected', get('', longTarget(100_000))],
  ]),
  ...rawCases({ rule: headerLimit, serves: [list], uws: '200, open' }, [
    ['header lines of 16,384 bytes are served', get(longHeader(16_375))],
  ]),
  ...rawCases({ rule: headerLimit, serves: [], uws: '431, closed' }, [
    ['header lines of 16,385 bytes are rejected', get(longHeader(16_376))],
    ['many header lines of 20,000 bytes together are rejected', get(longHeader(2000).repeat(10))],
    [
      'the body of a request with headers over the limit is not run as a request',
      get(`${longHeader(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ rule: headerLimit, serves: [], uws: '431 by the parser, closed' }, [
    ['header lines of 100,000 bytes are rejected', get(longHeader(100_000))],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.',
      serves: [],
      uws: '400, closed',
    },
    [['a method of 20,000 bytes is rejected', `${'A'.repeat(20_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`]],
  ),
  ...rawCases(
    {
      rule: 'RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.',
      serves: [],
      uws: '431 by the parser, closed',
    },
    [
      [
        'a method of 100,000 bytes is rejected',
        `${'A'.repeat(100_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`,
      ],
    ],
  ),
  ...rawCases({ rule: targetLimit, serves: [], uws: 'nothing, closed' }, [
    ['a request after a target over the limit is not run', get('', longTarget(20_000)) + smuggled],
  ]),
  ...rawCases({ rule: headerLimit, serves: [], uws: 'nothing, closed' }, [
    ['a request after headers over the limit is not run', get(longHeader(20_000)) + smuggled],
  ]),
];
