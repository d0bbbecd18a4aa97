import { rawCases, type RawCase } from '../rawCase.ts';
import { create, get, list, pet, petLength } from '../rawRequests.ts';

const requestOf = (text: string) => `${text}\r\nHost: x\r\n\r\n`;

export const requestLineCases: readonly RawCase[] = [
  ...rawCases({ uws: '200, open', serves: [list] }, [
    // RFC 9112 §2.1
    ['a GET is served', get()],
  ]),
  ...rawCases({ uws: '400, closed', serves: [] }, [
    // RFC 9110 §9.1: a method is a token.
    ['a method with a parenthesis is rejected', requestOf('G(T /v1/pets HTTP/1.1')],
    // RFC 9112 §3.2: no whitespace or control character in a target; else 400.
    ['a target with DEL is rejected', requestOf('GET /v1/pets\x7f HTTP/1.1')],
    // RFC 3986 §2: a URI is ASCII.
    ['a target with a non-ASCII byte is rejected', requestOf('GET /v1/pets?q=\xe9 HTTP/1.1')],
    // RFC 9112 §3.2.1: origin-form has no fragment.
    ['a target with a fragment is rejected', requestOf('GET /v1/pets#a HTTP/1.1')],
  ]),
  ...rawCases({ uws: '505 by the parser, closed', serves: [] }, [
    // RFC 9112 §6.3
    [
      'an HTTP/1.0 request with a body is not read as two requests',
      `POST /v1/pets HTTP/1.0\r\n${petLength}\r\n${pet}`,
      { node: '415, closed', serves: [create] },
    ],
  ]),
  ...rawCases({ uws: 'nothing, open', serves: [list] }, [
    // On node:http: RFC 9112 §2.2 recommends to skip an empty line before a request.
    // RFC 9112 §2.2: a server should ignore at least one.
    ['an empty line before a request is skipped or rejected', `\r\n${get()}`, { node: '200, open' }],
  ]),
  ...rawCases({ uws: '404, open', serves: ['GET /v1/../v1/pets'] }, [
    // RFC 3986 §6.2.2.3: only a recipient that normalizes removes them.
    ['a target with dot segments is passed on unchanged', requestOf('GET /v1/../v1/pets HTTP/1.1')],
  ]),
  ...rawCases({ uws: '400, open', serves: ['GET /v1/pets/%0d%0aX:1'] }, [
    // RFC 3986 §2.1
    ['an encoded CRLF does not end a target', requestOf('GET /v1/pets/%0d%0aX:1 HTTP/1.1')],
  ]),
  ...rawCases({ uws: '505 by the parser, closed', serves: [list] }, [
    // On node:http: RFC 9112 §3.2.2 requires the absolute form. Its host must be that of `Host`.
    // RFC 9112 §3.2.2: a server must accept it.
    [
      'an absolute-form target is served or rejected',
      requestOf('GET http://x/v1/pets HTTP/1.1'),
      { node: '200, open' },
    ],
    // On node:http, HTTP/1.0 is served.
    // RFC 9110 §2.5: a server answers with its own minor version.
    [
      'an HTTP/1.0 request is served or rejected',
      requestOf('GET /v1/pets HTTP/1.0'),
      { node: '200, closed' },
    ],
  ]),
  ...rawCases({ uws: '505 by the parser, closed', serves: ['OPTIONS *'] }, [
    // On node:http: RFC 9112 §3.2.4 requires `OPTIONS *`.
    // RFC 9112 §3.2.4: OPTIONS * applies to the server as a whole.
    ['OPTIONS * is served or rejected', requestOf('OPTIONS * HTTP/1.1'), { node: '404, open' }],
  ]),
  ...rawCases({ uws: '405, open', serves: ['CONNECT /v1/pets'] }, [
    // Node’s parser accepts only registered methods in upper case, and CONNECT is for proxies.
    // RFC 9110 §9.3.6
    [
      'a CONNECT with a path opens no tunnel',
      requestOf('CONNECT /v1/pets HTTP/1.1'),
      { node: '400, closed' },
    ],
  ]),
];
