import { rawCases, type RawCase } from '../rawCase.ts';
import { chunked, chunkedPet, create, get, list, pet, petLength, post, smuggled } from '../rawRequests.ts';

const postWithLength = (value: string) => post(`Content-Length: ${value}\r\n`, pet);
const postWithCoding = (value: string) => post(`Transfer-Encoding: ${value}\r\n`, `0\r\n\r\n${smuggled}`);

export const framingCases: readonly RawCase[] = [
  ...rawCases({ uws: '201, open', serves: [create] }, [
    // RFC 9110 §8.6: digits only.
    ['a Content-Length with leading zeros is accepted', postWithLength('00027')],
    // RFC 9112 §5: whitespace around a value is not part of it.
    ['a Content-Length with whitespace around it is accepted', postWithLength(' \t27 \t')],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    // RFC 9110 §8.6: digits only.
    ['a Content-Length with a plus sign is rejected', postWithLength('+27')],
    // RFC 9110 §8.6: several values must be equal, else 400. This adapter rejects equal values too.
    ['a Content-Length that lists equal values is rejected', postWithLength('27, 27')],
    // RFC 9112 §6.1: both headers may be an attack: the request is rejected, or chunked wins and the connection is closed.
    [
      'Content-Length before Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: ${5 + smuggled.length}\r\n${chunked}`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'Transfer-Encoding before Content-Length (TE.CL) is rejected',
      post(`${chunked}Content-Length: 4\r\n`, `23\r\n${smuggled}\r\n0\r\n\r\n`),
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    // RFC 9110 §8.6: digits only.
    ['a Content-Length of non-ASCII digits is rejected', postWithLength('\xd9\xa2\xd9\xa7')],
    ['an empty Content-Length is rejected', post('Content-Length:\r\n', pet)],
    // RFC 9110 §8.6: several values must be equal, else 400. This adapter rejects equal values too.
    [
      'two Content-Length headers, the longer first, are rejected and nothing is run',
      post(`Content-Length: ${smuggled.length}\r\nContent-Length: 0\r\n`, smuggled),
    ],
    // RFC 9112 §6.3: a request without chunked as its last coding gets 400 and the connection is closed.
    ['an empty Transfer-Encoding is rejected', post('Transfer-Encoding:\r\n', `0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    // RFC 9110 §8.6: several values must be equal, else 400. This adapter rejects equal values too.
    [
      'two Content-Length headers, the shorter first, are rejected and the rest is not run',
      post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
    [
      'an empty Content-Length before another one is rejected and the rest is not run',
      get(`Content-Length:\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
    // RFC 9112 §6.1: an unknown coding gets 501 or 400; this adapter sends 400.
    ['Transfer-Encoding: xchunked is rejected', postWithCoding('xchunked')],
    // RFC 9112 §6.3: a request without chunked as its last coding gets 400 and the connection is closed.
    ['an empty Transfer-Encoding on a GET is rejected', get('Transfer-Encoding:\r\n') + smuggled],
    // RFC 9112 §6.1
    [
      'two Transfer-Encoding: chunked headers are rejected and nothing is run',
      post(chunked + chunked, `0\r\n\r\n${smuggled}`),
    ],
    // RFC 9112 §6.1: both headers may be an attack: the request is rejected, or chunked wins and the connection is closed.
    [
      'an empty Content-Length after Transfer-Encoding (TE.CL) is rejected',
      post(`${chunked}Content-Length:\r\n`, `0\r\n\r\n${smuggled}`),
    ],
    [
      'Content-Length before an empty Transfer-Encoding (CL.TE) is rejected',
      post(`Content-Length: 0\r\nTransfer-Encoding:\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ uws: '200, open', serves: [list] }, [
    // RFC 9110 §9.3.1: a GET may have one; it is framed like any other.
    ['the body of a GET is not run as a request', get(`Content-Length: ${smuggled.length}\r\n`) + smuggled],
  ]),
  ...rawCases({ uws: '413, open', serves: [create], knownLimitation: 'A body that is not read to its end' }, [
    // RFC 9110 §15.5.14
    ['a body over the size limit is not run as a request', post('Content-Length: 2000000\r\n', smuggled)],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [create] }, [
    // RFC 9112 §8
    [
      'the server waits for the rest of a body that is shorter than its Content-Length',
      post(petLength, pet.slice(1)),
    ],
  ]),
  ...rawCases({ uws: '201 200, open', serves: [create, list] }, [
    // RFC 9112 §9.3.2
    ['bytes after a body are the next request', post(petLength, pet) + get()],
  ]),
  ...rawCases(
    { uws: '201, open', serves: [], knownLimitation: 'Bytes beyond ASCII at the ends of a header value' },
    [
      // uWebSockets.js hides a header with an empty name, and bytes beyond ASCII at the end of a value.
      // RFC 9110 §8.6: digits only.
      [
        'a Content-Length that ends in a non-ASCII byte is rejected',
        postWithLength('27\xa0'),
        { node: '400, closed' },
      ],
    ],
  ),
  ...rawCases({ uws: '201, closed', serves: [create] }, [
    // Node’s parser reads the trailers of chunked requests.
    // RFC 9112 §7.1
    ['a chunked POST is served', post(chunked, chunkedPet), { node: '201, open' }],
    // RFC 9112 §7: names of codings are case-insensitive.
    [
      'Transfer-Encoding: chunked in other letter case is served',
      post('Transfer-Encoding: ChUnKeD\r\n', chunkedPet),
      { node: '201, open' },
    ],
    // Node’s parser rejects a space after `chunked`.
    // RFC 9112 §5
    [
      'Transfer-Encoding: chunked with whitespace around it is served',
      post('Transfer-Encoding: \t chunked \t\r\n', chunkedPet),
      { node: 'nothing, closed' },
    ],
  ]),
  ...rawCases({ uws: '200, closed', serves: ['GET /v1/pets'] }, [
    // RFC 9110 §9.3.1
    ['a chunked GET is served', get(chunked) + chunkedPet, { node: '200, open' }],
  ]),
  ...rawCases(
    {
      uws: 'nothing, closed',
      serves: [],
      knownLimitation: 'Bytes beyond ASCII at the ends of a header value',
    },
    [
      // RFC 9112 §6.1: an unknown coding gets 501 or 400; this adapter sends 400.
      [
        'Transfer-Encoding: chunked with a non-ASCII byte at its end is rejected',
        postWithCoding('chunked\xff'),
      ],
    ],
  ),
];
