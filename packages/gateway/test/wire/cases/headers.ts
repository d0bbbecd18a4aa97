import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, post, smuggled } from '../rawRequests.ts';

const nameRule = 'RFC 9110 §5.1: a header name is a token; else 400.';
const valueRule = 'RFC 9110 §5.5: NUL, CR and LF are rejected; other control characters may be rejected.';
const foldRule = 'RFC 9112 §5.2: 400, or the fold is replaced with spaces.';

export const headerCases: readonly RawCase[] = [
  ...rawCases({ uws: '200, open', serves: [list] }, [
    [
      nameRule,
      'a header name with every special token character is served',
      get("!#$%&'*+-.^_`|~9Az: b\r\n"),
    ],
    ['RFC 9110 §5.5: obs-text.', 'a header value in Latin-1 is served', get('A: b\xe9c\r\n')],
    [
      'RFC 9110 §5.4: no limit is set.',
      'ninety headers are served',
      get(Array.from({ length: 90 }, (_, at) => `H${at}: b\r\n`).join('')),
    ],
  ]),
  ...rawCases({ uws: '431 by the parser, closed', serves: [] }, [
    // Node limits the size of headers, not their number.
    [
      'RFC 6585 §5: 431.',
      'three hundred headers are rejected',
      get(Array.from({ length: 300 }, (_, at) => `H${at}: b\r\n`).join('')),
      { node: '200, open', serves: [list] },
    ],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    // On uws-pack 20.0.8: It does not answer a malformed header line: the connection closes when it is idle.
    [
      foldRule,
      'a folded Content-Length is rejected and the rest is not run',
      get(`Content-Length:\r\n ${smuggled.length}\r\n`) + smuggled,
      { older: 'nothing, open' },
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [valueRule, 'DEL in a header value is rejected', get('A: b\x7fc\r\n')],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [] }, [
    [
      'RFC 9112 §8',
      'the server waits for the rest of an incomplete head',
      'GET /v1/pets HTTP/1.1\r\nHost: x\r\n',
    ],
  ]),
  ...rawCases({ uws: '200, open', serves: [], knownLimitation: 'A header with an empty name' }, [
    [nameRule, 'a header with an empty name is rejected', get(': b\r\n'), { node: '400, closed' }],
  ]),
  ...rawCases({ uws: '200 404, open', serves: [], knownLimitation: 'A header with an empty name' }, [
    // uWebSockets.js hides a header with an empty name, and bytes beyond ASCII at the end of a value.
    [
      nameRule,
      'a Content-Length after a header with an empty name is rejected and the rest is not run',
      get(`: b\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
      { node: '400, closed' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [], knownLimitation: 'A header with an empty name' }, [
    [
      nameRule,
      'a POST with a Content-Length after a header with an empty name closes the connection and the rest is not run',
      post(`: b\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
  ]),
];
