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
  ...rawCases({ uws: '201, closed', serves: [create] }, [
    ['RFC 9112 §7.1', 'a chunked POST is served', post(chunked, chunkedPet)],
    [
      'RFC 9112 §7: names of codings are case-insensitive.',
      'Transfer-Encoding: chunked in other letter case is served',
      post('Transfer-Encoding: ChUnKeD\r\n', chunkedPet),
    ],
    [
      'RFC 9112 §5',
      'Transfer-Encoding: chunked with whitespace around it is served',
      post('Transfer-Encoding: \t chunked \t\r\n', chunkedPet),
    ],
  ]),
  ...rawCases({ uws: '200, closed', serves: ['GET /v1/pets'] }, [
    ['RFC 9110 §9.3.1', 'a chunked GET is served', get(chunked) + chunkedPet],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    [unknownCoding, 'Transfer-Encoding: xchunked is rejected', postWithCoding('xchunked')],
    [unknownCoding, 'Transfer-Encoding: identity is rejected', postWithCoding('identity')],
    [unknownCoding, 'Transfer-Encoding: gzip, chunked is rejected', postWithCoding('gzip, chunked')],
    [unknownCoding, 'Transfer-Encoding with a comma before chunked is rejected', postWithCoding(', chunked')],
    [
      unknownCoding,
      'Transfer-Encoding headers with identity and then chunked are rejected and nothing is run',
      post(`Transfer-Encoding: identity\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      unknownCoding,
      'a second Transfer-Encoding in other letter case, xchunked, is rejected and nothing is run',
      post(`${chunked}tRANSFER-eNCODING: xchunked\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [lastCoding, 'Transfer-Encoding: gzip without chunked is rejected', postWithCoding('gzip')],
    [lastCoding, 'Transfer-Encoding: chunked, identity is rejected', postWithCoding('chunked, identity')],
    [lastCoding, 'an empty Transfer-Encoding on a GET is rejected', get('Transfer-Encoding:\r\n') + smuggled],
    [
      lastCoding,
      'an empty Transfer-Encoding before Transfer-Encoding: chunked is rejected and the rest is not run',
      get(`Transfer-Encoding:\r\n${chunked}`) + smuggled,
    ],
    [
      lastCoding,
      'Transfer-Encoding headers with chunked and then identity are rejected and nothing is run',
      post(`${chunked}Transfer-Encoding: identity\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'RFC 9112 §6.1: chunked must not be applied twice.',
      'Transfer-Encoding: chunked, chunked is rejected',
      postWithCoding('chunked, chunked'),
    ],
    [
      'RFC 9112 §7.1: chunked has no parameters.',
      'Transfer-Encoding: chunked with a parameter is rejected',
      postWithCoding('chunked;q=1'),
    ],
    [
      'RFC 9112 §6.1',
      'two Transfer-Encoding: chunked headers are rejected and nothing is run',
      post(chunked + chunked, `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'an empty Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length:\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'an empty Content-Length after Transfer-Encoding (TE.CL) is rejected',
      post(`${chunked}Content-Length:\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'Content-Length before an empty Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: 0\r\nTransfer-Encoding:\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    [
      unknownCoding,
      'Transfer-Encoding: chunked with a vertical tab is rejected',
      postWithCoding('\x0bchunked'),
    ],
    [
      'RFC 9112 §5.1: 400.',
      'Transfer-Encoding with a space before the colon is rejected',
      post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
    [
      'RFC 9112 §5.2: 400, or the fold is replaced with a space.',
      'a folded Transfer-Encoding is rejected',
      post('Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
    [
      'RFC 9112 §2.2',
      'a bare LF before Transfer-Encoding is rejected',
      post('A: b\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: ${5 + smuggled.length}\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'Transfer-Encoding before Content-Length (TE.CL) is rejected',
      post(`${chunked}Content-Length: 4\r\n`, `23\r\n${smuggled}\r\n0\r\n\r\n`),
    ],
    [
      bothHeaders,
      'a create in the body of a request with Content-Length and Transfer-Encoding (CL.TE) is not stored',
      post(`Content-Length: ${5 + smuggledCreate.length}\r\n${chunked}`, `0\r\n\r\n${smuggledCreate}`),
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [
      lastCoding,
      'an empty Transfer-Encoding is rejected',
      post('Transfer-Encoding:\r\n', `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ uws: '201, open', serves: [create] }, [
    [
      'RFC 9110 §5.1',
      'Transfer_Encoding with an underscore is another header',
      post(`Transfer_Encoding: chunked\r\n${petLength}`, pet),
    ],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [] }, [
    [
      'RFC 9112 §2.2',
      'a bare CR before Transfer-Encoding is rejected',
      post('A: b\rTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ uws: '200, open', serves: ['GET /v1/pets'] }, [
    ['RFC 9110 §10.1.4', 'a TE header is ignored', get('TE: trailers\r\n')],
  ]),
  ...rawCases(
    {
      uws: 'nothing, closed',
      serves: [],
      knownLimitation: 'Bytes beyond ASCII at the ends of a header value',
    },
    [
      [
        unknownCoding,
        'Transfer-Encoding: chunked with a non-ASCII byte at its end is rejected',
        postWithCoding('chunked\xff'),
      ],
    ],
  ),
];
