import { rawCases, type RawCase } from '../rawCase.ts';
import { create, get, list, pet, petLength, post, smuggled } from '../rawRequests.ts';

const upgradeHeaders = 'Connection: Upgrade\r\nUpgrade: ';

export const connectionCases: readonly RawCase[] = [
  ...rawCases({ uws: '200, open', serves: [list] }, [
    // On node:http, the adapter does not know whether a body follows `Expect: 100-continue`.
    // RFC 9110 §10.1.1
    [
      'a GET with Expect: 100-continue and no body is served',
      get('Expect: 100-continue\r\n'),
      { node: '200, closed' },
    ],
    // Node’s parser drops the bytes after an Upgrade in the same packet.
    // RFC 9110 §7.8: an Upgrade may be ignored.
    [
      'the body of an Upgrade to h2c is not run as a request',
      get(`${upgradeHeaders}h2c\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
      { node: '200, closed', serves: [list] },
    ],
    [
      'the body of an Upgrade to a WebSocket is not run as a request',
      get(
        `${upgradeHeaders}websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: ${smuggled.length}\r\n`,
      ) + smuggled,
      { node: '200, closed', serves: [list] },
    ],
  ]),
  ...rawCases({ uws: '200, closed', serves: [list] }, [
    // RFC 9112 §9.6: bytes after a request with close are not processed.
    ['Connection: close closes the connection', get('Connection: close\r\n')],
    // Node’s parser knows only `close` and `keep-alive` in `Connection`.
    // RFC 9110 §7.6.1: unknown options are ignored.
    [
      'an unknown Connection option of five characters is ignored or closes the connection',
      get('Connection: x-abc\r\n'),
      { node: '200, open' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: [list] }, [
    // RFC 9112 §9.6: bytes after a request with close are not processed.
    [
      'a request after Connection: close is not run',
      get('Connection: close\r\n') + smuggled,
      { node: '200, closed' },
    ],
  ]),
  ...rawCases(
    {
      uws: '404 404 404 404 404 404 404 404 404 404, open',
      serves: Array.from({ length: 10 }, (_, at) => `GET /${at}`),
    },
    [
      // RFC 9112 §9.3.2: pipelined requests get their responses in order; a server may close the connection.
      [
        'ten pipelined requests get their responses in order',
        Array.from({ length: 10 }, (_, at) => get('', `/${at}`)).join(''),
      ],
    ],
  ),
  ...rawCases({ uws: '400 by the parser, closed', serves: ['GET /a'] }, [
    // On uws-pack 20.0.8: It does not answer a malformed pipelined request.
    // RFC 9112 §9.3.2: pipelined requests get their responses in order; a server may close the connection.
    [
      'an error in a pipelined request does not affect the request before it',
      `${get('', '/a')}GET /b HTTP/1.1\r\n\r\n`,
      { node: '404 400, closed', older: '404, open' },
    ],
  ]),
  ...rawCases({ uws: 'nothing, closed', serves: ['GET /a'] }, [
    // Node’s parser also reports an error in a pipelined request.
    // RFC 9112 §9.3.2: pipelined requests get their responses in order; a server may close the connection.
    [
      'a framing error in a pipelined request closes the connection',
      get('', '/a') + get('Content-Length: 0\r\nContent-Length: 1\r\n', '/b') + get('', '/c'),
      { node: '404 400, closed' },
    ],
  ]),
  ...rawCases({ uws: '404, open', serves: ['GET /a'] }, [
    // RFC 9112 §2.2
    ['garbage after a request is not run', `${get('', '/a')}garbage\r\n\r\n`, { node: '404 400, closed' }],
  ]),
  ...rawCases({ uws: '201, open', serves: [create] }, [
    // RFC 9112 §2.2: old clients send it.
    ['a CRLF after a body is skipped or closes the connection', `${post(petLength, pet)}\r\n`],
    // RFC 9110 §10.1.1
    ['a POST with Expect: 100-continue is served', post(`Expect: 100-continue\r\n${petLength}`, pet)],
  ]),
  ...rawCases({ uws: '201 400, open', serves: [create, create] }, [
    // RFC 9110 §10.1.1, RFC 9112 §9.3.2: nothing is sent within the response before it.
    [
      'a POST with Expect: 100-continue behind a pipelined POST is answered after it',
      post(petLength, pet) + post(`Expect: 100-continue\r\nContent-Length: 2\r\n`, '{}'),
    ],
  ]),
  ...rawCases({ uws: '417, closed', serves: [] }, [
    // RFC 9110 §10.1.1: 417.
    ['an Expect other than 100-continue gets 417', post(`Expect: x\r\n${petLength}`, pet)],
    [
      'the body of a request that gets 417 is not run as a request',
      post(`Expect: x\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
  ]),
];
