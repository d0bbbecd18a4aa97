import { rawCases, type RawCase } from '../rawCase.ts';
import {
  chunked,
  chunkedPet,
  create,
  get,
  pet,
  petLength,
  post,
  smuggled,
  smuggledCreate,
} from '../rawRequests.ts';

const unknownCoding = 'RFC 9112 §6.1: an unknown coding gets 501 or 400; this adapter sends 400.';
const lastCoding =
  'RFC 9112 §6.3: a request without chunked as its last coding gets 400 and the connection is closed.';
const bothHeaders =
  'RFC 9112 §6.1: both headers may be an attack: the request is rejected, or chunked wins and the connection is closed.';
const postWithCoding = (value: string) => post(`Transfer-Encoding: ${value}\r\n`, `0\r\n\r\n${smuggled}`);

export const transferEncodingCases: readonly RawCase[] = [
  ...rawCases({ rule: 'RFC 9112 §7.1', serves: [create], uws: '201, closed' }, [
    ['a chunked POST is served', post(chunked, chunkedPet)],
  ]),
  ...rawCases(
    { rule: 'RFC 9112 §7: names of codings are case-insensitive.', serves: [create], uws: '201, closed' },
    [
      [
        'Transfer-Encoding: chunked in other letter case is served',
        post('Transfer-Encoding: ChUnKeD\r\n', chunkedPet),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9112 §5', serves: [create], uws: '201, closed' }, [
    [
      'Transfer-Encoding: chunked with whitespace around it is served',
      post('Transfer-Encoding: \t chunked \t\r\n', chunkedPet),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.1', serves: ['GET /v1/pets'], uws: '200, closed' }, [
    ['a chunked GET is served', get(chunked) + chunkedPet],
  ]),
  ...rawCases({ rule: unknownCoding, serves: [], uws: 'nothing, closed' }, [
    ['Transfer-Encoding: xchunked is rejected', postWithCoding('xchunked')],
    ['Transfer-Encoding: identity is rejected', postWithCoding('identity')],
    ['Transfer-Encoding: gzip, chunked is rejected', postWithCoding('gzip, chunked')],
    ['Transfer-Encoding with a comma before chunked is rejected', postWithCoding(', chunked')],
    ['Transfer-Encoding with a comma after chunked is rejected', postWithCoding('chunked,')],
    ['Transfer-Encoding: chunked in quotes is rejected', postWithCoding('"chunked"')],
    ['Transfer-Encoding: chunked with a space inside is rejected', postWithCoding('chun ked')],
    [
      'Transfer-Encoding headers with identity and then chunked are rejected and nothing is run',
      post(`Transfer-Encoding: identity\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'a second Transfer-Encoding in other letter case, xchunked, is rejected and nothing is run',
      post(`${chunked}tRANSFER-eNCODING: xchunked\r\n`, `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ rule: lastCoding, serves: [], uws: 'nothing, closed' }, [
    ['Transfer-Encoding: gzip without chunked is rejected', postWithCoding('gzip')],
    ['Transfer-Encoding: chunked, identity is rejected', postWithCoding('chunked, identity')],
    ['an empty Transfer-Encoding on a GET is rejected', get('Transfer-Encoding:\r\n') + smuggled],
    [
      'an empty Transfer-Encoding before Transfer-Encoding: chunked is rejected and the rest is not run',
      get(`Transfer-Encoding:\r\n${chunked}`) + smuggled,
    ],
    [
      'Transfer-Encoding headers with chunked and then identity are rejected and nothing is run',
      post(`${chunked}Transfer-Encoding: identity\r\n`, `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases(
    { rule: 'RFC 9112 §6.1: chunked must not be applied twice.', serves: [], uws: 'nothing, closed' },
    [['Transfer-Encoding: chunked, chunked is rejected', postWithCoding('chunked, chunked')]],
  ),
  ...rawCases({ rule: 'RFC 9112 §7.1: chunked has no parameters.', serves: [], uws: 'nothing, closed' }, [
    ['Transfer-Encoding: chunked with a parameter is rejected', postWithCoding('chunked;q=1')],
  ]),
  ...rawCases({ rule: unknownCoding, serves: [], uws: '400 by the parser, closed' }, [
    ['Transfer-Encoding: chunked with a vertical tab is rejected', postWithCoding('\x0bchunked')],
    ['Transfer-Encoding: chunked with NUL is rejected', postWithCoding('chunked\0')],
  ]),
  ...rawCases({ rule: lastCoding, serves: [], uws: '400, closed' }, [
    ['an empty Transfer-Encoding is rejected', post('Transfer-Encoding:\r\n', `0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases({ rule: 'RFC 9112 §6.1', serves: [], uws: 'nothing, closed' }, [
    [
      'two Transfer-Encoding: chunked headers are rejected and nothing is run',
      post(chunked + chunked, `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §5.1: 400.', serves: [], uws: '400 by the parser, closed' }, [
    [
      'Transfer-Encoding with a space before the colon is rejected',
      post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
    [
      'Transfer-Encoding with a tab before the colon is rejected',
      post('Transfer-Encoding\t: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §5.2: 400, or the fold is replaced with a space.',
      serves: [],
      uws: '400 by the parser, closed',
    },
    [
      [
        'a folded Transfer-Encoding is rejected',
        post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${smuggled}`),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9110 §5.1', serves: [create], uws: '201, open' }, [
    [
      'Transfer_Encoding with an underscore is another header',
      post(`Transfer_Encoding: chunked\r\n${petLength}`, pet),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [], uws: '400 by the parser, closed' }, [
    [
      'a bare LF before Transfer-Encoding is rejected',
      post('A: b\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [], uws: 'nothing, open' }, [
    [
      'a bare CR before Transfer-Encoding is rejected',
      post('A: b\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ rule: bothHeaders, serves: [], uws: '400 by the parser, closed' }, [
    [
      'Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: ${5 + smuggled.length}\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'Transfer-Encoding before Content-Length (TE.CL) is rejected',
      post(`${chunked}Content-Length: 4\r\n`, `23\r\n${smuggled}\r\n0\r\n\r\n`),
    ],
    [
      'a create in the body of a request with Content-Length and Transfer-Encoding (CL.TE) is not stored',
      post(`Content-Length: ${5 + smuggledCreate.length}\r\n${chunked}`, `0\r\n\r\n${smuggledCreate}`),
    ],
    [
      'Content-Length: 0 before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: 0\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'Content-Length before an unknown Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: 0\r\nTransfer-Encoding: x\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ rule: bothHeaders, serves: [], uws: 'nothing, closed' }, [
    [
      'an empty Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length:\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'an empty Content-Length after Transfer-Encoding (TE.CL) is rejected',
      post(`${chunked}Content-Length:\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'Content-Length before an empty Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: 0\r\nTransfer-Encoding:\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §10.1.4', serves: ['GET /v1/pets'], uws: '200, open' }, [
    ['a TE header is ignored', get('TE: trailers\r\n')],
  ]),
  ...rawCases(
    {
      rule: unknownCoding,
      serves: [],
      uws: 'nothing, closed',
      knownLimitation: 'Bytes beyond ASCII at the ends of a header value',
    },
    [
      [
        'Transfer-Encoding: chunked with a non-ASCII byte at its end is rejected',
        postWithCoding('chunked\xff'),
      ],
    ],
  ),
];
