import { rawCases, type RawCase } from '../rawCase.ts';
import {
  chunked,
  chunkedPet,
  create,
  get,
  list,
  pet,
  petLength,
  post,
  smuggled,
  smuggledCreate,
} from '../rawRequests.ts';

const closeRule = 'RFC 9112 §9.6: bytes after a request with close are not processed.';
const pipelineRule =
  'RFC 9112 §9.3.2: pipelined requests get their responses in order; a server may close the connection.';
const upgradeRule = 'RFC 9110 §7.8: an Upgrade may be ignored.';
const upgradeHeaders = 'Connection: Upgrade\r\nUpgrade: ';

export const connectionCases: readonly RawCase[] = [
  ...rawCases({ rule: 'RFC 9112 §9.3', serves: [list], uws: '200, open' }, [
    ['a connection stays open by default', get('Connection: keep-alive\r\n')],
  ]),
  ...rawCases({ rule: closeRule, serves: [list], uws: '200, closed' }, [
    ['Connection: close closes the connection', get('Connection: close\r\n')],
    ['Connection: CLOSE in upper case closes the connection', get('Connection: CLOSE\r\n')],
    ['close in a Connection list closes the connection', get('Connection: keep-alive, close\r\n')],
    [
      'close in a second Connection header closes the connection',
      get('Connection: keep-alive\r\nConnection: close\r\n'),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §7.6.1: unknown options are ignored.', serves: [list], uws: '200, closed' }, [
    [
      'an unknown Connection option of five characters is ignored or closes the connection',
      get('Connection: x-abc\r\n'),
    ],
  ]),
  ...rawCases({ rule: closeRule, serves: [list], uws: 'nothing, closed' }, [
    ['a request after Connection: close is not run', get('Connection: close\r\n') + smuggled],
    ['a request after close in a Connection list is not run', get('Connection: x, Close\r\n') + smuggled],
    ['a create after Connection: close is not stored', get('Connection: close\r\n') + smuggledCreate],
  ]),
  ...rawCases({ rule: closeRule, serves: [create], uws: 'nothing, closed' }, [
    [
      'a request after a POST with Connection: close is not run',
      post(`Connection: close\r\n${petLength}`, pet) + smuggled,
    ],
  ]),
  ...rawCases({ rule: closeRule, serves: ['HEAD /v1/pets'], uws: '200, closed' }, [
    [
      'a HEAD with Connection: close gets 200 and closes the connection',
      'HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ],
  ]),
  ...rawCases({ rule: closeRule, serves: ['OPTIONS /v1/pets'], uws: '204, closed' }, [
    [
      'an OPTIONS with Connection: close gets 204 and closes the connection',
      'OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ],
  ]),
  ...rawCases({ rule: pipelineRule, serves: ['GET /a', 'GET /b'], uws: '404 404, open' }, [
    ['two pipelined requests get their responses in order', get('', '/a') + get('', '/b')],
  ]),
  ...rawCases(
    {
      rule: pipelineRule,
      serves: Array.from({ length: 10 }, (_, at) => `GET /${at}`),
      uws: '404 404 404 404 404 404 404 404 404 404, open',
    },
    [
      [
        'ten pipelined requests get their responses in order',
        Array.from({ length: 10 }, (_, at) => get('', `/${at}`)).join(''),
      ],
    ],
  ),
  ...rawCases({ rule: pipelineRule, serves: [create, list], uws: '201 200, open' }, [
    [
      'a request pipelined after a POST gets its response after that of the POST',
      post(petLength, pet) + get(),
    ],
  ]),
  ...rawCases({ rule: pipelineRule, serves: ['GET /a'], uws: '400 by the parser, closed' }, [
    [
      'an error in a pipelined request does not affect the request before it',
      `${get('', '/a')}GET /b HTTP/1.1\r\n\r\n`,
    ],
  ]),
  ...rawCases({ rule: pipelineRule, serves: ['GET /a'], uws: 'nothing, closed' }, [
    [
      'a framing error in a pipelined request closes the connection',
      get('', '/a') + get('Content-Length: 0\r\nContent-Length: 1\r\n', '/b') + get('', '/c'),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2', serves: ['GET /a'], uws: '404, open' }, [
    ['garbage after a request is not run', `${get('', '/a')}garbage\r\n\r\n`],
  ]),
  ...rawCases({ rule: 'RFC 9112 §2.2: old clients send it.', serves: [create], uws: '201, open' }, [
    ['a CRLF after a body is skipped or closes the connection', `${post(petLength, pet)}\r\n`],
  ]),
  ...rawCases({ rule: 'RFC 9110 §10.1.1', serves: [create], uws: '201, open' }, [
    ['a POST with Expect: 100-continue is served', post(`Expect: 100-continue\r\n${petLength}`, pet)],
  ]),
  ...rawCases({ rule: 'RFC 9110 §10.1.1: case-insensitive.', serves: [create], uws: '201, open' }, [
    [
      'a POST with Expect: 100-Continue in other letter case is served',
      post(`Expect: 100-Continue\r\n${petLength}`, pet),
    ],
  ]),
  ...rawCases({ rule: 'RFC 9110 §10.1.1', serves: [list], uws: '200, open' }, [
    ['a GET with Expect: 100-continue and no body is served', get('Expect: 100-continue\r\n')],
  ]),
  ...rawCases(
    {
      rule: 'RFC 9110 §10.1.1, RFC 9112 §9.3.2: nothing is sent within the response before it.',
      serves: [create, create],
      uws: '201 400, open',
    },
    [
      [
        'a POST with Expect: 100-continue behind a pipelined POST is answered after it',
        post(petLength, pet) + post(`Expect: 100-continue\r\nContent-Length: 2\r\n`, '{}'),
      ],
    ],
  ),
  ...rawCases({ rule: 'RFC 9110 §10.1.1: 417.', serves: [], uws: '417, closed' }, [
    ['an Expect other than 100-continue gets 417', post(`Expect: x\r\n${petLength}`, pet)],
    [
      'the body of a request that gets 417 is not run as a request',
      post(`Expect: x\r\nContent-Length: ${smuggled.length}\r\n`, smuggled),
    ],
  ]),
  ...rawCases({ rule: upgradeRule, serves: [list], uws: '200, open' }, [
    ['an Upgrade to h2c is ignored', get(`${upgradeHeaders}h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`)],
    ['an Upgrade to TLS is ignored', get(`${upgradeHeaders}TLS/1.0\r\n`)],
    [
      'an Upgrade to a WebSocket at a path without WebSockets is ignored',
      get(
        `${upgradeHeaders}websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`,
      ),
    ],
    [
      'the body of an Upgrade to h2c is not run as a request',
      get(`${upgradeHeaders}h2c\r\nContent-Length: ${smuggled.length}\r\n`) + smuggled,
    ],
    [
      'the body of an Upgrade to a WebSocket is not run as a request',
      get(
        `${upgradeHeaders}websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nContent-Length: ${smuggled.length}\r\n`,
      ) + smuggled,
    ],
  ]),
  ...rawCases({ rule: upgradeRule, serves: [create], uws: '201, closed' }, [
    ['an Upgrade on a chunked request is ignored', post(`${upgradeHeaders}h2c\r\n${chunked}`, chunkedPet)],
  ]),
  ...rawCases({ rule: 'RFC 9112 C.2.2', serves: ['GET /a', 'GET /b'], uws: '404 404, open' }, [
    ['Proxy-Connection is ignored', get('Proxy-Connection: close\r\n', '/a') + get('', '/b')],
  ]),
  ...rawCases({ rule: 'RFC 9112 §9.5', serves: [], uws: 'nothing, open' }, [
    ['a connection without a request gets no response', ' '.slice(1)],
  ]),
];
