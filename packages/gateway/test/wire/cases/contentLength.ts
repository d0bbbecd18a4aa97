import { rawCases, type RawCase } from '../rawCase.ts';
import { create, get, list, pet, petLength, post, smuggled } from '../rawRequests.ts';

const severalLengths =
  'RFC 9110 §8.6: several values must be equal, else 400. This adapter rejects equal values too.';
const lengthGrammar = 'RFC 9110 §8.6: digits only.';
const postWithLength = (value: string) => post(`Content-Length: ${value}\r\n`, pet);

export const contentLengthCases: readonly RawCase[] = [
  ...rawCases({ uws: '201, open', serves: [create] }, [
    [lengthGrammar, 'a Content-Length with leading zeros is accepted', postWithLength('00027')],
    [
      'RFC 9112 §5: whitespace around a value is not part of it.',
      'a Content-Length with whitespace around it is accepted',
      postWithLength(' \t27 \t'),
    ],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [] }, [
    [lengthGrammar, 'a Content-Length with a plus sign is rejected', postWithLength('+27')],
    [severalLengths, 'a Content-Length that lists equal values is rejected', postWithLength('27, 27')],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    [lengthGrammar, 'a Content-Length of non-ASCII digits is rejected', postWithLength('\xd9\xa2\xd9\xa7')],
    [lengthGrammar, 'an empty Content-Length is rejected', post('Content-Length:\r\n', pet)],
    [
      severalLengths,
      'two Content-Length headers, the longer first, are rejected and nothing is run',
      post(`Content-Length: ${smuggled.length}\r\nContent-Length: 0\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [] }, [
    [
      severalLengths,
      'two Content-Length headers, the shorter first, are rejected and the rest is not run',
      post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
    [
      severalLengths,
      'an empty Content-Length before another one is rejected and the rest is not run',
      get(`Content-Length:\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ uws: '200, open', serves: [list] }, [
    [
      'RFC 9110 §9.3.1: a GET may have one; it is framed like any other.',
      'the body of a GET is not run as a request',
      get(`Content-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ uws: '413, open', serves: [create], knownLimitation: 'A body that is not read to its end' }, [
    [
      'RFC 9110 §15.5.14',
      'a body over the size limit is not run as a request',
      post('Content-Length: 2000000\r\n', smuggled),
    ],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [create] }, [
    [
      'RFC 9112 §8',
      'the server waits for the rest of a body that is shorter than its Content-Length',
      post(petLength, pet.slice(1)),
    ],
  ]),
  ...rawCases({ uws: '201 200, open', serves: [create, list] }, [
    ['RFC 9112 §9.3.2', 'bytes after a body are the next request', post(petLength, pet) + get()],
  ]),
  ...rawCases(
    { uws: '201, open', serves: [], knownLimitation: 'Bytes beyond ASCII at the ends of a header value' },
    [
      // uWebSockets.js hides a header with an empty name, and bytes beyond ASCII at the end of a value.
      [
        lengthGrammar,
        'a Content-Length that ends in a non-ASCII byte is rejected',
        postWithLength('27\xa0'),
        { node: '400, closed' },
      ],
    ],
  ),
];
