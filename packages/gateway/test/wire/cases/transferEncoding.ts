import { rawCases, type RawCase } from '../rawCase.ts';
import { chunked, chunkedPet, create, get, post, smuggled } from '../rawRequests.ts';

const unknownCoding = 'RFC 9112 §6.1: an unknown coding gets 501 or 400; this adapter sends 400.';
const lastCoding =
  'RFC 9112 §6.3: a request without chunked as its last coding gets 400 and the connection is closed.';
const bothHeaders =
  'RFC 9112 §6.1: both headers may be an attack: the request is rejected, or chunked wins and the connection is closed.';
const postWithCoding = (value: string) => post(`Transfer-Encoding: ${value}\r\n`, `0\r\n\r\n${smuggled}`);

export const transferEncodingCases: readonly RawCase[] = [
  ...rawCases({ uws: '201, closed', serves: [create] }, [
    // Node’s parser reads the trailers of chunked requests.
    ['RFC 9112 §7.1', 'a chunked POST is served', post(chunked, chunkedPet), { node: '201, open' }],
    [
      'RFC 9112 §7: names of codings are case-insensitive.',
      'Transfer-Encoding: chunked in other letter case is served',
      post('Transfer-Encoding: ChUnKeD\r\n', chunkedPet),
      { node: '201, open' },
    ],
    // Node’s parser rejects a space after `chunked`.
    [
      'RFC 9112 §5',
      'Transfer-Encoding: chunked with whitespace around it is served',
      post('Transfer-Encoding: \t chunked \t\r\n', chunkedPet),
      { node: 'nothing, closed' },
    ],
  ]),
  ...rawCases({ uws: '200, closed', serves: ['GET /v1/pets'] }, [
    ['RFC 9110 §9.3.1', 'a chunked GET is served', get(chunked) + chunkedPet, { node: '200, open' }],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    [unknownCoding, 'Transfer-Encoding: xchunked is rejected', postWithCoding('xchunked')],
    [lastCoding, 'an empty Transfer-Encoding on a GET is rejected', get('Transfer-Encoding:\r\n') + smuggled],
    [
      'RFC 9112 §6.1',
      'two Transfer-Encoding: chunked headers are rejected and nothing is run',
      post(chunked + chunked, `0\r\n\r\n${smuggled}`),
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
      bothHeaders,
      'Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: ${5 + smuggled.length}\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      bothHeaders,
      'Transfer-Encoding before Content-Length (TE.CL) is rejected',
      post(`${chunked}Content-Length: 4\r\n`, `23\r\n${smuggled}\r\n0\r\n\r\n`),
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [
      lastCoding,
      'an empty Transfer-Encoding is rejected',
      post('Transfer-Encoding:\r\n', `0\r\n\r\n${smuggled}`),
    ],
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
