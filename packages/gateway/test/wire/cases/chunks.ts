import { rawCases, type RawCase } from '../rawCase.ts';
import { chunked, create, list, get, pet, post, smuggled, smuggledCreate } from '../rawRequests.ts';

const chunkRule = 'RFC 9112 §7.1: chunk-size is hexadecimal digits, a line ends in CRLF.';
const extensions = 'RFC 9112 §7.1.1: unknown extensions are ignored.';
const trailers = 'RFC 9112 §7.1.2: trailers are consumed or discarded.';
const postChunks = (chunks: string) => post(chunked, chunks);

export const chunkCases: readonly RawCase[] = [
  ...rawCases({ rule: chunkRule, serves: [create], uws: '201, closed' }, [
    [
      'a body in several chunks is one body',
      postChunks(`5\r\n${pet.slice(0, 5)}\r\n16\r\n${pet.slice(5)}\r\n0\r\n\r\n`),
    ],
    ['an upper-case chunk size is accepted', postChunks(`1B\r\n${pet}\r\n0\r\n\r\n`)],
    ['a chunk size with leading zeros is accepted', postChunks(`0001b\r\n${pet}\r\n0\r\n\r\n`)],
    ['a last chunk with a size of several zeros ends the body', postChunks(`1b\r\n${pet}\r\n000\r\n\r\n`)],
  ]),
  ...rawCases({ rule: chunkRule, serves: [create], uws: '400, closed' }, [
    ['a chunked body without data is an empty body', postChunks('0\r\n\r\n')],
    [
      'a chunk that is shorter than its size includes the bytes after it',
      postChunks(`3f\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
    ],
    ['an empty chunk size is rejected', postChunks(`\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a space before a chunk size is rejected', postChunks(` 1b\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases({ rule: extensions, serves: [create], uws: 'nothing, open' }, [
    ['a chunk extension is ignored or rejected', postChunks(`1b;a=b\r\n${pet}\r\n0\r\n\r\n`)],
    ['a chunk extension without a value is ignored or rejected', postChunks(`1b;a\r\n${pet}\r\n0\r\n\r\n`)],
    ['an extension of the last chunk is ignored or rejected', postChunks(`1b\r\n${pet}\r\n0;a=b\r\n\r\n`)],
  ]),
  ...rawCases({ rule: extensions, serves: [create], uws: '400 by the parser, closed' }, [
    [
      'a chunk extension with a quoted value is ignored or rejected',
      postChunks(`1b;a="b"\r\n${pet}\r\n0\r\n\r\n`),
    ],
    [
      'a chunk extension of 20,000 bytes is rejected',
      postChunks(`1b;${'a'.repeat(20_000)}\r\n${pet}\r\n0\r\n\r\n`),
    ],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §7.1.1: a quoted string has no CR or LF.',
      serves: [create],
      uws: '400 by the parser, closed',
    },
    [
      [
        'a quoted CRLF in a chunk extension ends the line',
        postChunks(`1b;a="\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [create], uws: 'nothing, open' }, [
    [
      'a bare LF in a chunk extension does not end the line',
      postChunks(`1b;a\n${pet}\r\n0\r\n\r\n${smuggled}`),
    ],
    ['a bare CR in a chunk extension is rejected', postChunks(`1b;a\rb\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases({ rule: chunkRule, serves: [create], uws: 'nothing, closed' }, [
    ['a bare LF after a chunk size is rejected', postChunks(`1b\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a bare LF after a chunk is rejected', postChunks(`1b\r\n${pet}\n0\r\n\r\n${smuggled}`)],
    ['a chunked body with bare LF line ends is rejected', postChunks(`1b\n${pet}\n0\n\n${smuggled}`)],
    ['a chunk without a CRLF after it is rejected', postChunks(`1b\r\n${pet}XX0\r\n\r\n${smuggled}`)],
    ['a chunk size with NUL is rejected', postChunks(`1b\0\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases({ rule: chunkRule, serves: [create], uws: '400 by the parser, closed' }, [
    ['a chunk that is longer than its size is rejected', postChunks(`5\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a chunk size with 0x is rejected', postChunks(`0x1b\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a negative chunk size is rejected', postChunks(`-1b\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a chunk size with a plus sign is rejected', postChunks(`+1b\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
    ['a chunk size that is not hexadecimal is rejected', postChunks(`xyz\r\n${pet}\r\n0\r\n\r\n${smuggled}`)],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §7.1.1: bad whitespace before an extension.',
      serves: [create],
      uws: 'nothing, closed',
    },
    [
      [
        'a space after a chunk size is rejected or ignored',
        postChunks(`1b \r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      ],
    ],
  ),
  ...rawCases(
    {
      rule: 'RFC 9112 §7.1: integer overflow must be prevented.',
      serves: [create],
      uws: '400 by the parser, closed',
    },
    [
      [
        'a chunk size over 64 bits is rejected',
        postChunks(`1000000000000001b\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9112 §7.1', serves: [create], uws: '400 by the parser, closed' }, [
    [
      'a chunk size of 100 digits is rejected',
      postChunks(`${'f'.repeat(100)}\r\n${pet}\r\n0\r\n\r\n${smuggled}`),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §7.1', serves: [create], uws: '201, closed' }, [
    [
      'a chunk size with 100 leading zeros is accepted',
      postChunks(`${'0'.repeat(100)}1b\r\n${pet}\r\n0\r\n\r\n`),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §8', serves: [create], uws: 'nothing, open' }, [
    ['the server waits for the rest of an incomplete chunked body', postChunks(`1b\r\n${pet}\r\n`)],
  ]),
  ...rawCases({ rule: trailers, serves: [create], uws: '505 by the parser, closed' }, [
    ['a trailer is not read as a request', postChunks(`1b\r\n${pet}\r\n0\r\nA: b\r\n\r\n`)],
    ['several trailers are not read as requests', postChunks(`1b\r\n${pet}\r\n0\r\nA: b\r\nC: d\r\n\r\n`)],
    [
      'a Content-Length in a trailer does not frame a body',
      postChunks(`1b\r\n${pet}\r\n0\r\nContent-Length: 5\r\n\r\n`),
    ],
  ]),
  ...rawCases({ rule: trailers, serves: [create], uws: 'nothing, closed' }, [
    ['a trailer that looks like a request is not run', postChunks(`1b\r\n${pet}\r\n0\r\n${smuggled}`)],
    [
      'a trailer that looks like a request after two other bytes is not run',
      postChunks(`1b\r\n${pet}\r\n0\r\nXX${smuggled}`),
    ],
    [
      'a trailer that looks like a create is not run and stores nothing',
      postChunks(`1b\r\n${pet}\r\n0\r\nA:${smuggledCreate}`),
    ],
  ]),
  ...rawCases({ rule: trailers, serves: [list], uws: 'nothing, closed' }, [
    ['a trailer of a chunked GET that looks like a request is not run', `${get(chunked)}0\r\n${smuggled}`],
  ]),
  ...rawCases({ rule: 'RFC 9112 §9.3.2', serves: [create, list], uws: 'nothing, closed' }, [
    [
      'a request after a chunked request waits for its response, or the connection closes',
      postChunks(`1b\r\n${pet}\r\n0\r\n\r\n`) + get(),
    ],
  ]),
];
