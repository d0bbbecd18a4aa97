import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, post, smuggled, smuggledCreate } from '../rawRequests.ts';

const nameRule = 'RFC 9110 §5.1: a header name is a token; else 400.';
const valueRule = 'RFC 9110 §5.5: NUL, CR and LF are rejected; other control characters may be rejected.';
const foldRule = 'RFC 9112 §5.2: 400, or the fold is replaced with spaces.';

export const headerCases: readonly RawCase[] = [
  ...rawCases({ rule: nameRule, serves: [list], uws: '200, open' }, [
    ['a header name with every special token character is served', get("!#$%&'*+-.^_`|~9Az: b\r\n")],
  ]),
  ...rawCases({ rule: 'RFC 9110 §5.5', serves: [list], uws: '200, open' }, [
    ['a header with an empty value is served', get('A:\r\n')],
    ['a header value with a tab is served', get('A: b\tc\r\n')],
    ['a header value of colons is served', get('A: ::b:\r\n')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §5', serves: [list], uws: '200, open' }, [
    ['a header value with whitespace around it is served', get('A: \t b \t \r\n')],
  ]),
  ...rawCases({ rule: 'RFC 9110 §5.5: obs-text.', serves: [list], uws: '200, open' }, [
    ['a header value in Latin-1 is served', get('A: b\xe9c\r\n')],
    ['a header value in UTF-8 is served', get('A: b\xc3\xa9c\r\n')],
  ]),
  ...rawCases({ rule: 'RFC 9110 §5.4: no limit is set.', serves: [list], uws: '200, open' }, [
    ['ninety headers are served', get(Array.from({ length: 90 }, (_, at) => `H${at}: b\r\n`).join(''))],
  ]),
  ...rawCases({ rule: 'RFC 6585 §5: 431.', serves: [], uws: '431 by the parser, closed' }, [
    [
      'three hundred headers are rejected',
      get(Array.from({ length: 300 }, (_, at) => `H${at}: b\r\n`).join('')),
    ],
  ]),
  ...rawCases({ rule: nameRule, serves: [], uws: '400 by the parser, closed' }, [
    ['a space in a header name is rejected', get('A b: c\r\n')],
    ['a parenthesis in a header name is rejected', get('A(b: c\r\n')],
    ['a slash in a header name is rejected', get('A/b: c\r\n')],
    ['a non-ASCII byte in a header name is rejected', get('A\xe9: b\r\n')],
    ['NUL in a header name is rejected', get('A\0: b\r\n')],
    ['DEL in a header name is rejected', get('A\x7f: b\r\n')],
    [
      'a header with an empty name before Host is rejected',
      'GET /v1/pets HTTP/1.1\r\n: b\r\nHost: x\r\n\r\n',
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §5.1: 400.', serves: [], uws: '400 by the parser, closed' }, [
    ['a space before the colon of a header is rejected', get('A : b\r\n')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §5', serves: [], uws: '400 by the parser, closed' }, [
    ['a header line without a colon is rejected', get('Ab\r\n')],
  ]),
  ...rawCases({ rule: valueRule, serves: [], uws: '400 by the parser, closed' }, [
    ['NUL in a header value is rejected', get('A: b\0c\r\n')],
    ['a bell in a header value is rejected', get('A: b\x07c\r\n')],
    ['a vertical tab in a header value is rejected', get('A: b\x0bc\r\n')],
    ['a form feed in a header value is rejected', get('A: b\x0cc\r\n')],
    ['an escape character in a header value is rejected', get('A: b\x1b[2J\r\n')],
    [
      'a create after a request with NUL in its head is not stored',
      post('A: \0\r\nContent-Length: 0\r\n', '') + smuggledCreate,
    ],
  ]),
  ...rawCases({ rule: valueRule, serves: [], uws: '400, closed' }, [
    ['DEL in a header value is rejected', get('A: b\x7fc\r\n')],
    ['DEL between non-ASCII bytes in a header value is rejected', get('A: \xe9\x7f\xe9\r\n')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [], uws: '400 by the parser, closed' }, [
    ['a bare LF in a header value is rejected', get('A: b\nC: d\r\n')],
    ['a bare LF at the end of the head is rejected', `GET /v1/pets HTTP/1.1\r\nHost: x\r\n\n${smuggled}`],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [], uws: 'nothing, open' }, [
    ['a bare CR in a header value is rejected', get('A: b\rC: d\r\n')],
    ['a bare CR at the end of a header is rejected', get('A: b\r\r\n')],
  ]),
  ...rawCases({ rule: foldRule, serves: [], uws: '400 by the parser, closed' }, [
    ['a folded header is rejected', get('A: b\r\n c\r\n')],
    ['a header folded with a tab is rejected', get('A: b\r\n\tc\r\n')],
    ['a folded Host is rejected', 'GET /v1/pets HTTP/1.1\r\nHost:\r\n x\r\n\r\n'],
    [
      'a folded Content-Length is rejected and the rest is not run',
      get(`Content-Length:\r\n ${smuggled.length}\r\n`) + smuggled,
    ],
    ['a header line of spaces is rejected', get(' \r\n')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §2.2: no whitespace before the first header.',
      serves: [],
      uws: '400 by the parser, closed',
    },
    [['a space before the first header is rejected', `GET /v1/pets HTTP/1.1\r\n Host: x\r\n\r\n`]],
  ),
  ...rawCases(
    { rule: nameRule, serves: [], uws: '200, open', knownLimitation: 'A header with an empty name' },
    [['a header with an empty name is rejected', get(': b\r\n')]],
  ),
  ...rawCases(
    { rule: nameRule, serves: [], uws: '200 404, open', knownLimitation: 'A header with an empty name' },
    [
      [
        'a Content-Length after a header with an empty name is rejected and the rest is not run',
        get(`: b\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
      ],
    ],
  ),
  ...rawCases(
    { rule: nameRule, serves: [], uws: 'nothing, closed', knownLimitation: 'A header with an empty name' },
    [
      [
        'a POST with a Content-Length after a header with an empty name closes the connection and the rest is not run',
        post(`: b\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9112 §8', serves: [], uws: 'nothing, open' }, [
    ['the server waits for the rest of an incomplete head', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n'],
  ]),
];
