import { rawCases, type RawCase } from '../rawCase.ts';
import { create, get, list, pet, petLength, post, smuggled, smuggledCreate } from '../rawRequests.ts';

const severalLengths =
  'RFC 9110 §8.6: several values must be equal, else 400. This adapter rejects equal values too.';
const lengthGrammar = 'RFC 9110 §8.6: digits only.';
const postWithLength = (value: string) => post(`Content-Length: ${value}\r\n`, pet);

export const contentLengthCases: readonly RawCase[] = [
  ...rawCases({ rule: 'RFC 9112 §6.2', serves: [create], uws: '201, open' }, [
    ['a POST with a Content-Length is served', post(petLength, pet)],
  ]),
  ...rawCases({ rule: lengthGrammar, serves: [create], uws: '201, open' }, [
    ['a Content-Length with leading zeros is accepted', postWithLength('00027')],
  ]),
  ...rawCases(
    { rule: 'RFC 9112 §5: whitespace around a value is not part of it.', serves: [create], uws: '201, open' },
    [['a Content-Length with whitespace around it is accepted', postWithLength(' \t27 \t')]],
  ),
  ...rawCases({ rule: lengthGrammar, serves: [], uws: '400 by the parser, closed' }, [
    ['a Content-Length with a plus sign is rejected', postWithLength('+27')],
    ['a negative Content-Length is rejected', postWithLength('-1')],
    ['a Content-Length of minus zero is rejected', postWithLength('-0')],
    ['a hexadecimal Content-Length is rejected', postWithLength('0x1b')],
    ['a decimal Content-Length is rejected', postWithLength('27.0')],
    ['a Content-Length with an exponent is rejected', postWithLength('27e0')],
    ['a Content-Length with an underscore is rejected', postWithLength('2_7')],
    ['a Content-Length with a space inside is rejected', postWithLength('2 7')],
    ['a Content-Length with a semicolon is rejected', postWithLength('27;')],
    ['a Content-Length in quotes is rejected', postWithLength('"27"')],
    ['a Content-Length of letters is rejected', postWithLength('abc')],
    ['a Content-Length with NUL is rejected', postWithLength('27\0')],
  ]),
  ...rawCases({ rule: lengthGrammar, serves: [], uws: '400, closed' }, [
    ['a Content-Length of non-ASCII digits is rejected', postWithLength('\xd9\xa2\xd9\xa7')],
    ['an empty Content-Length is rejected', post('Content-Length:\r\n', pet)],
    ['an empty Content-Length on a GET is rejected', get('Content-Length:\r\n')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §8.6: integer overflow must be prevented.',
      serves: [],
      uws: '400 by the parser, closed',
    },
    [['a Content-Length over 64 bits is rejected', postWithLength('18446744073709551643')]],
  ),
  ...rawCases({ rule: 'RFC 9110 §8.6', serves: [], uws: '400 by the parser, closed' }, [
    ['a Content-Length of 400 digits is rejected', postWithLength('9'.repeat(400))],
    ['a Content-Length of 19 digits is rejected', postWithLength('9223372036854775807')],
    ['a Content-Length with 30 leading zeros is rejected', postWithLength(`${'0'.repeat(30)}27`)],
  ]),
  ...rawCases({ rule: severalLengths, serves: [], uws: '400 by the parser, closed' }, [
    ['a Content-Length that lists equal values is rejected', postWithLength('27, 27')],
    ['a Content-Length that lists different values is rejected', postWithLength('27, 5')],
  ]),
  ...rawCases({ rule: severalLengths, serves: [], uws: '400, closed' }, [
    ['two equal Content-Length headers are rejected', post(petLength + petLength, pet)],
    [
      'two Content-Length headers, the longer first, are rejected and nothing is run',
      post(`Content-Length: ${smuggled.length}\r\nContent-Length: 0\r\n`, smuggled),
    ],
    [
      'an empty Content-Length after another one is rejected and the rest is not run',
      get(`Content-Length: ${smuggled.length}\r\nContent-Length:\r\n`) + smuggled,
    ],
  ]),
  ...rawCases({ rule: severalLengths, serves: [], uws: 'nothing, closed' }, [
    [
      'two Content-Length headers, the shorter first, are rejected and the rest is not run',
      post(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
    [
      'a second Content-Length in other letter case is rejected and the rest is not run',
      post(`Content-Length: 0\r\ncontent-LENGTH: ${smuggled.length}\r\n`, smuggled),
    ],
    [
      'two Content-Length headers with another header between them are rejected and the rest is not run',
      post(`Content-Length: 0\r\nA: b\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
    [
      'two Content-Length headers on a GET are rejected and the rest is not run',
      get(`Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
    [
      'an empty Content-Length before another one is rejected and the rest is not run',
      get(`Content-Length:\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
    [
      'a create in the body of a request with two Content-Length headers is not stored',
      post(`Content-Length: 27\r\nContent-Length: ${27 + smuggledCreate.length}\r\n`, pet + smuggledCreate),
    ],
    [
      'three Content-Length headers are rejected and the rest is not run',
      get(`Content-Length: 0\r\nContent-Length: 0\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §9.3.1: a GET may have one; it is framed like any other.',
      serves: [list],
      uws: '200, open',
    },
    [['the body of a GET is not run as a request', get(`Content-Length: ${smuggled.length}\r\n`) + smuggled]],
  ),
  ...rawCases({ rule: 'RFC 9110 §9.3.2', serves: ['HEAD /v1/pets'], uws: '200, open' }, [
    [
      'the body of a HEAD is not run as a request',
      `HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.5', serves: ['DELETE /v1/pets/1'], uws: '405, open' }, [
    [
      'the body of a DELETE is not run as a request',
      `DELETE /v1/pets/1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.7', serves: ['OPTIONS /v1/pets'], uws: '204, open' }, [
    [
      'the body of an OPTIONS is not run as a request',
      `OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.8', serves: ['TRACE /v1/pets'], uws: '405, open' }, [
    [
      'the body of a TRACE is not run as a request',
      `TRACE /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.6', serves: ['CONNECT /v1/pets'], uws: '405, open' }, [
    [
      'the body of a CONNECT with a path is not run as a request',
      `CONNECT /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §6.3', serves: ['BREW /v1/pets'], uws: '405, open' }, [
    [
      'the body of a request with an unknown method is not run as a request',
      `BREW /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §6.3', serves: ['POST /nowhere'], uws: '404, open' }, [
    [
      'the body of a request to an unknown path is not run as a request',
      `POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §6.3', serves: [create], uws: '400, open' }, [
    [
      'a body that gets 400 is not run as a request',
      post(`Content-Length: ${smuggled.length}\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §6.3', serves: [create], uws: '415, open' }, [
    [
      'a body with another media type is not run as a request',
      `POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §15.5.14',
      serves: [create],
      uws: '413, open',
      knownLimitation: 'A body that is not read to its end',
    },
    [['a body over the size limit is not run as a request', post('Content-Length: 2000000\r\n', smuggled)]],
  ),
  ...rawCases({ rule: 'RFC 9112 §8', serves: [create], uws: 'nothing, open' }, [
    [
      'the server waits for the rest of a body that is shorter than its Content-Length',
      post(petLength, pet.slice(1)),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §9.3.2', serves: [create, list], uws: '201 200, open' }, [
    ['bytes after a body are the next request', post(petLength, pet) + get()],
  ]),
  ...rawCases(
    {
      rule: lengthGrammar,
      serves: [],
      uws: '201, open',
      knownLimitation: 'Bytes beyond ASCII at the ends of a header value',
    },
    [['a Content-Length that ends in a non-ASCII byte is rejected', postWithLength('27\xa0')]],
  ),
];
