import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, post, smuggled } from '../rawRequests.ts';

const getWithHeaders = (headers: string) => `GET /v1/pets HTTP/1.1\r\n${headers}\r\n`;
const longHeader = (length: number) => `A: ${'b'.repeat(length - 5)}\r\n`;

export const headerCases: readonly RawCase[] = [
  ...rawCases({ uws: '200, open', serves: [list] }, [
    // RFC 9110 §5.1: a header name is a token; else 400.
    ['a header name with every special token character is served', get("!#$%&'*+-.^_`|~9Az: b\r\n")],
    // RFC 9110 §5.5: obs-text.
    ['a header value in Latin-1 is served', get('A: b\xe9c\r\n')],
    // RFC 9110 §5.4: no limit is set.
    ['ninety headers are served', get(Array.from({ length: 90 }, (_, at) => `H${at}: b\r\n`).join(''))],
    // RFC 9112 §3.2: 400 unless there is one Host header with a valid value.
    ['a Host with a port is served', getWithHeaders('Host: x:8080\r\n')],
    ['a Host that is an IPv6 address is served', getWithHeaders('Host: [::1]:80\r\n')],
    // RFC 3986 §3.2.3: a port may be empty.
    ['a Host with an empty port is served', getWithHeaders('Host: x:\r\n')],
    // RFC 6585 §5: 431.
    ['header lines of 16,384 bytes are served', get(longHeader(16_375))],
  ]),
  ...rawCases({ uws: '431 by the parser, closed', serves: [] }, [
    // Node limits the size of headers, not their number.
    // RFC 6585 §5: 431.
    [
      'three hundred headers are rejected',
      get(Array.from({ length: 300 }, (_, at) => `H${at}: b\r\n`).join('')),
      { node: '200, open', serves: [list] },
    ],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    // On uws-pack 20.0.8: It does not answer a malformed header line: the connection closes when it is idle.
    // RFC 9112 §5.2: 400, or the fold is replaced with spaces.
    [
      'a folded Content-Length is rejected and the rest is not run',
      get(`Content-Length:\r\n ${smuggled.length}\r\n`) + smuggled,
      { older: 'nothing, open' },
    ],
    // RFC 9112 §3.2: 400 unless there is one Host header with a valid value.
    ['a request without a Host is rejected', getWithHeaders('A: b\r\n')],
    [
      'two different Host headers are rejected',
      getWithHeaders('Host: x\r\nHost: y\r\n'),
      { older: '400, closed' },
    ],
    // On uws-pack 20.0.8: It accepts several Host headers, which the adapter rejects.
    [
      'an empty Host before a valid one is rejected',
      getWithHeaders('Host:\r\nHost: x\r\n'),
      { older: '400, closed' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [] }, [
    // RFC 9112 §8
    ['the server waits for the rest of an incomplete head', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n'],
  ]),
  ...rawCases({ uws: '200, open', serves: [], knownLimitation: 'A header with an empty name' }, [
    // RFC 9110 §5.1: a header name is a token; else 400.
    ['a header with an empty name is rejected', get(': b\r\n'), { node: '400, closed' }],
  ]),
  ...rawCases({ uws: '200 404, open', serves: [], knownLimitation: 'A header with an empty name' }, [
    // uWebSockets.js hides a header with an empty name, and bytes beyond ASCII at the end of a value.
    // RFC 9110 §5.1: a header name is a token; else 400.
    [
      'a Content-Length after a header with an empty name is rejected and the rest is not run',
      get(`: b\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
      { node: '400, closed' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [], knownLimitation: 'A header with an empty name' }, [
    // RFC 9110 §5.1: a header name is a token; else 400.
    [
      'a POST with a Content-Length after a header with an empty name closes the connection and the rest is not run',
      post(`: b\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    // RFC 9110 §4.2.1: an http URI without a host is invalid.
    ['an empty Host is rejected', getWithHeaders('Host:\r\n')],
    // RFC 9112 §3.2: 400 unless there is one Host header with a valid value.
    ['a list of hosts in Host is rejected', getWithHeaders('Host: x, y\r\n')],
    ['a Host with a path is rejected', getWithHeaders('Host: x/v1\r\n')],
    ['a Host with user information is rejected', getWithHeaders('Host: u@x\r\n')],
    ['a Host with a space is rejected', getWithHeaders('Host: x y\r\n')],
    ['a Host with an invalid percent-encoding is rejected', getWithHeaders('Host: x%2\r\n')],
    // RFC 9112 §3: 501; this adapter sends 400 and keeps 5xx for server errors.
    ['a method of 20,000 bytes is rejected', `${'A'.repeat(20_000)} /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n`],
  ]),
  ...rawCases({ uws: '431, closed', serves: [] }, [
    // RFC 6585 §5: 431.
    ['header lines of 16,385 bytes are rejected', get(longHeader(16_376))],
    [
      'the body of a request with headers over the limit is not run as a request',
      get(`${longHeader(20_000)}Content-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    // RFC 6585 §5: 431.
    ['a request after headers over the limit is not run', get(longHeader(20_000)) + smuggled],
  ]),
];
