import { rawCases, type RawCase } from '../rawCase.ts';
import { chunked, create, list, get, pet, post, smuggled, smuggledCreate } from '../rawRequests.ts';

const postChunks = (chunks: string) => post(chunked, chunks);

export const chunkCases: readonly RawCase[] = [
  ...rawCases({ uws: '201, closed', serves: [create] }, [
    // Node’s parser reads the trailers of chunked requests.
    // RFC 9112 §7.1: chunk-size is hexadecimal digits, a line ends in CRLF.
    [
      'a body in several chunks is one body',
      postChunks(`5\r\n${pet.slice(0, 5)}\r\n16\r\n${pet.slice(5)}\r\n0\r\n\r\n`),
      { node: '201, open' },
    ],
  ]),
  ...rawCases({ uws: '400, closed', serves: [create] }, [
    // RFC 9112 §7.1: chunk-size is hexadecimal digits, a line ends in CRLF.
    ['a chunked body without data is an empty body', postChunks('0\r\n\r\n'), { node: '400, open' }],
    [
      'a chunk that is shorter than its size includes the bytes after it',
      postChunks(`3f\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      { node: 'nothing, closed' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [create] }, [
    // On node:http: RFC 9112 §7.1.1 requires to ignore chunk extensions.
    // RFC 9112 §7.1.1: unknown extensions are ignored.
    [
      'a chunk extension is ignored or rejected',
      postChunks(`1b;a=b\r\n${pet}\r\n0\r\n\r\n`),
      { node: '201, open' },
    ],
    // RFC 9112 §8
    ['the server waits for the rest of an incomplete chunked body', postChunks(`1b\r\n${pet}\r\n`)],
  ]),
  ...rawCases({ uws: '400 by the parser, closed', serves: [create] }, [
    // RFC 9112 §7.1: chunk-size is hexadecimal digits, a line ends in CRLF.
    [
      'a chunk that is longer than its size is rejected',
      postChunks(`5\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      { node: 'nothing, closed' },
    ],
    // On node:http, a request is already being handled when its body turns out to be malformed.
    // RFC 9112 §7.1: integer overflow must be prevented.
    [
      'a chunk size over 64 bits is rejected',
      postChunks(`1000000000000001b\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      { node: 'nothing, closed' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [create] }, [
    // RFC 9112 §7.1.2: trailers are consumed or discarded.
    [
      'a trailer that looks like a create is not run and stores nothing',
      postChunks(`1b\r\n${pet}\r\n0\r\nA:${smuggledCreate}`),
    ],
  ]),
  ...rawCases({ uws: '505 by the parser, closed', serves: [create] }, [
    // RFC 9112 §7.1.2: trailers are consumed or discarded.
    [
      'a trailer is not read as a request',
      postChunks(`1b\r\n${pet}\r\n0\r\nA: b\r\n\r\n`),
      { node: '201, open' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [create, list] }, [
    // RFC 9112 §9.3.2
    [
      'a request after a chunked request waits for its response, or the connection closes',
      postChunks(`1b\r\n${pet}\r\n0\r\n\r\n`) + get(),
      { node: '201 200, open' },
    ],
  ]),
];
