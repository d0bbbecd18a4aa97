import { rawCases, type RawCase } from '../rawCase.ts';
import { get, list, pet, petLength, smuggled } from '../rawRequests.ts';

const requestOf = (text: string) => `${text}\r\nHost: x\r\n\r\n`;
const invalidLine = 'RFC 9112 §3: an invalid request line gets 400 and the connection is closed.';
const methodToken = 'RFC 9110 §9.1: a method is a token.';
const targetCharacters = 'RFC 9112 §3.2: no whitespace or control character in a target; else 400.';

export const requestLineCases: readonly RawCase[] = [
  ...rawCases({ rule: 'RFC 9112 §2.1', serves: [list], uws: '200, open' }, [['a GET is served', get()]]),
  ...rawCases({ rule: 'RFC 9112 §3.2.1', serves: [`${list}?limit=1`], uws: '200, open' }, [
    ['a GET with a query is served', get('', '/v1/pets?limit=1')],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.2', serves: ['HEAD /v1/pets'], uws: '200, open' }, [
    ['a HEAD is served without a body', requestOf('HEAD /v1/pets HTTP/1.1')],
  ]),
  ...rawCases({ rule: methodToken, serves: ['BREW /v1/pets'], uws: '405, open' }, [
    ['an unknown method that is a token gets 405', requestOf('BREW /v1/pets HTTP/1.1')],
  ]),
  ...rawCases(
    { rule: 'RFC 9110 §9.1: methods are case-sensitive.', serves: ['get /v1/pets'], uws: '405, open' },
    [['a lower-case method is unknown and gets 405', requestOf('get /v1/pets HTTP/1.1')]],
  ),
  ...['post', 'PoST'].flatMap((method) =>
    rawCases(
      {
        rule: 'RFC 9110 §9.1: methods are case-sensitive.',
        serves: [`${method} /trpc/createPet`],
        uws: '405, open',
      },
      [
        [
          `${method} /trpc/createPet gets 405 and runs no mutation`,
          `${requestOf(`${method} /trpc/createPet HTTP/1.1`).slice(0, -2)}Content-Type: application/json\r\n${petLength}\r\n${pet}`,
        ],
      ],
    ),
  ),
  ...['get', 'HEAd', 'options', 'TRACK'].flatMap((method) =>
    rawCases(
      {
        rule: 'RFC 9110 §9.1: methods are case-sensitive; §15.5.6: 405.',
        serves: [`${method} /trpc/listPets?input=%7B%7D`],
        uws: '405, open',
      },
      [
        [
          `${method} /trpc/listPets gets 405 and runs no query`,
          requestOf(`${method} /trpc/listPets?input=%7B%7D HTTP/1.1`),
        ],
      ],
    ),
  ),
  ...rawCases({ rule: 'RFC 9110 §9.3.8', serves: ['TRACE /trpc/listPets'], uws: '405, open' }, [
    ['TRACE /trpc/listPets gets 405 and is not echoed', requestOf('TRACE /trpc/listPets HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.6', serves: ['CONNECT /trpc/listPets'], uws: '405, open' }, [
    ['CONNECT /trpc/listPets gets 405 and opens no tunnel', requestOf('CONNECT /trpc/listPets HTTP/1.1')],
  ]),
  ...rawCases({ rule: methodToken, serves: [], uws: '400, closed' }, [
    ['a method with a parenthesis is rejected', requestOf('G(T /v1/pets HTTP/1.1')],
    ['a method with an @ is rejected', requestOf('G@T /v1/pets HTTP/1.1')],
    ['a method with a colon is rejected', requestOf('GET: /v1/pets HTTP/1.1')],
    ['a method with a quote is rejected', requestOf('"GET" /v1/pets HTTP/1.1')],
    ['a method with DEL is rejected', requestOf('G\x7fT /v1/pets HTTP/1.1')],
    ['an empty method is rejected', requestOf(' /v1/pets HTTP/1.1')],
  ]),
  ...rawCases({ rule: methodToken, serves: [], uws: '505 by the parser, closed' }, [
    ['a method with NUL is rejected', requestOf('G\0T /v1/pets HTTP/1.1')],
    ['a method with a non-ASCII byte is rejected', requestOf('G\xe9T /v1/pets HTTP/1.1')],
  ]),
  ...rawCases({ rule: invalidLine, serves: [], uws: '505 by the parser, closed' }, [
    ['a tab after the method is rejected', requestOf('GET\t/v1/pets HTTP/1.1')],
    ['two spaces after the method are rejected', requestOf('GET  /v1/pets HTTP/1.1')],
    ['a tab before the version is rejected', requestOf('GET /v1/pets\tHTTP/1.1')],
    ['two spaces before the version are rejected', requestOf('GET /v1/pets  HTTP/1.1')],
    ['a space after the version is rejected', requestOf('GET /v1/pets HTTP/1.1 ')],
    ['a request line without a target is rejected', requestOf('GET HTTP/1.1')],
    ['a byte order mark before a request is rejected', `\xef\xbb\xbf${get()}`],
    ['a space before a request is rejected', ` ${get()}`],
  ]),
  ...rawCases({ rule: invalidLine, serves: [], uws: 'nothing, open' }, [
    ['a request line without a version is rejected', requestOf('GET /v1/pets')],
    ['a request line with only a method is rejected', requestOf('GET')],
    ['bytes that are not HTTP are rejected', 'hello\r\n\r\n'],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §2.2: a recipient may take a bare LF for a line end; this adapter does not.',
      serves: [],
      uws: '505 by the parser, closed',
    },
    [['a bare LF after the request line is rejected', 'GET /v1/pets HTTP/1.1\nHost: x\r\n\r\n']],
  ),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: [], uws: '505 by the parser, closed' }, [
    ['a head with bare LF line ends is rejected', 'GET /v1/pets HTTP/1.1\nHost: x\n\n'],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2: a bare CR is invalid.', serves: [], uws: 'nothing, open' }, [
    ['a bare CR in the request line is rejected', requestOf('GET /v1/\rpets HTTP/1.1')],
  ]),
  ...rawCases(
    { rule: 'RFC 9112 §2.2: a server should ignore at least one.', serves: [list], uws: 'nothing, open' },
    [['an empty line before a request is skipped or rejected', `\r\n${get()}`]],
  ),
  ...rawCases({ rule: targetCharacters, serves: [], uws: '400, closed' }, [
    ['a target with DEL is rejected', requestOf('GET /v1/pets\x7f HTTP/1.1')],
  ]),
  ...rawCases({ rule: targetCharacters, serves: [], uws: '505 by the parser, closed' }, [
    ['a target with NUL is rejected', requestOf('GET /v1/pe\0ts HTTP/1.1')],
    ['a target with a control character is rejected', requestOf('GET /v1/pe\x01ts HTTP/1.1')],
    ['a target with a space is rejected', requestOf('GET /v1/pets?q=a b HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 3986 §2: a URI is ASCII.', serves: [], uws: '400, closed' }, [
    ['a target with a non-ASCII byte is rejected', requestOf('GET /v1/pets?q=\xe9 HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 3986 §2', serves: [], uws: '400, closed' }, [
    ['a target in raw UTF-8 is rejected', requestOf('GET /v1/\xc3\xa9 HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §3.2.1: origin-form has no fragment.', serves: [], uws: '400, closed' }, [
    ['a target with a fragment is rejected', requestOf('GET /v1/pets#a HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §3.2.1', serves: [], uws: '400, closed' }, [
    ['a query with a fragment is rejected', requestOf('GET /v1/pets?limit=1#a HTTP/1.1')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 3986 §6.2.2.3: only a recipient that normalizes removes them.',
      serves: ['GET /v1/../v1/pets'],
      uws: '404, open',
    },
    [['a target with dot segments is passed on unchanged', requestOf('GET /v1/../v1/pets HTTP/1.1')]],
  ),
  ...rawCases({ rule: 'RFC 3986 §2.1', serves: ['GET /v1/%70ets'], uws: '200, open' }, [
    ['a percent-encoded target is passed on unchanged', requestOf('GET /v1/%70ets HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 3986 §2.1', serves: ['GET /v1/pets/%00'], uws: '400, open' }, [
    ['a target with an encoded NUL is passed on unchanged', requestOf('GET /v1/pets/%00 HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 3986 §2.1', serves: ['GET /v1/pets/%0d%0aX:1'], uws: '400, open' }, [
    ['an encoded CRLF does not end a target', requestOf('GET /v1/pets/%0d%0aX:1 HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §3.2.1', serves: [], uws: '505 by the parser, closed' }, [
    ['a target without a leading slash is rejected', requestOf('GET v1/pets HTTP/1.1')],
  ]),
  ...rawCases(
    { rule: 'RFC 9112 §3.2.2: a server must accept it.', serves: [list], uws: '505 by the parser, closed' },
    [['an absolute-form target is served or rejected', requestOf('GET http://x/v1/pets HTTP/1.1')]],
  ),
  ...rawCases({ rule: 'RFC 9112 §3.2.2', serves: [], uws: '505 by the parser, closed' }, [
    ['an absolute-form target with another host is rejected', requestOf('GET http://y/v1/pets HTTP/1.1')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9112 §3.2.4: OPTIONS * applies to the server as a whole.',
      serves: ['OPTIONS *'],
      uws: '505 by the parser, closed',
    },
    [['OPTIONS * is served or rejected', requestOf('OPTIONS * HTTP/1.1')]],
  ),
  ...rawCases(
    {
      rule: 'RFC 9112 §3.2.4: only OPTIONS has the asterisk form.',
      serves: [],
      uws: '505 by the parser, closed',
    },
    [['GET * is rejected', requestOf('GET * HTTP/1.1')]],
  ),
  ...rawCases(
    {
      rule: 'RFC 9112 §3.2.3: a server that is not a proxy rejects CONNECT.',
      serves: [],
      uws: '505 by the parser, closed',
    },
    [['an authority-form target is rejected', requestOf('CONNECT x:80 HTTP/1.1')]],
  ),
  ...rawCases({ rule: 'RFC 9110 §9.3.6', serves: ['CONNECT /v1/pets'], uws: '405, open' }, [
    ['a CONNECT with a path opens no tunnel', requestOf('CONNECT /v1/pets HTTP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9110 §9.3.8', serves: ['TRACE /v1/pets'], uws: '405, open' }, [
    ['a TRACE is not echoed', requestOf('TRACE /v1/pets HTTP/1.1')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §2.5: a server answers with its own minor version.',
      serves: [list],
      uws: '505 by the parser, closed',
    },
    [['an HTTP/1.0 request is served or rejected', requestOf('GET /v1/pets HTTP/1.0')]],
  ),
  ...rawCases({ rule: 'RFC 9112 §6.3', serves: [], uws: '505 by the parser, closed' }, [
    [
      'an HTTP/1.0 request with a body is not read as two requests',
      `POST /v1/pets HTTP/1.0\r\n${petLength}\r\n${pet}`,
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §3', serves: [], uws: '505 by the parser, closed' }, [
    ['an HTTP/0.9 request is rejected', 'GET /v1/pets\r\n'],
    ['a TLS ClientHello on a port without TLS is rejected', '\x16\x03\x01\x00\x20\x01\x00\x00\x1c\x03\x03'],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §2.5: a higher minor version is served as the highest known.',
      serves: [],
      uws: '505 by the parser, closed',
    },
    [['an HTTP/1.2 request is served as HTTP/1.1 or rejected', requestOf('GET /v1/pets HTTP/1.2')]],
  ),
  ...rawCases({ rule: 'RFC 9110 §15.6.6: 505.', serves: [], uws: '505 by the parser, closed' }, [
    ['a request line with HTTP/2.0 is rejected', requestOf('GET /v1/pets HTTP/2.0')],
    ['a request line with HTTP/9.9 is rejected', requestOf('GET /v1/pets HTTP/9.9')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.3: case-sensitive.', serves: [], uws: '505 by the parser, closed' }, [
    ['a lower-case HTTP version is rejected', requestOf('GET /v1/pets http/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.3', serves: [], uws: '505 by the parser, closed' }, [
    ['a version of another protocol is rejected', requestOf('GET /v1/pets ICAP/1.1')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.3: one digit each.', serves: [], uws: '505 by the parser, closed' }, [
    ['a version with two minor digits is rejected', requestOf('GET /v1/pets HTTP/1.10')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9113 §3.4: it is designed to fail on HTTP/1.1.',
      serves: [],
      uws: '505 by the parser, closed',
    },
    [['the HTTP/2 connection preface is rejected', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']],
  ),
  ...rawCases({ rule: invalidLine, serves: [], uws: '400 by the parser, closed' }, [
    ['a second request line instead of headers is rejected', `GET /v1/pets HTTP/1.1\r\n${smuggled}`],
  ]),
];
