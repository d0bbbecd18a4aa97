import { create, list } from './rawRequests.ts';

/**
 * Cases that the adapter on node:http accepts or rejects differently from the adapter on uWebSockets.js. If both reject
 * a request, their rejections may differ: 400, 505 or no response, immediately or after 10 s.
 */
interface NodeDifference {
  /** What differs and why. */
  readonly why: string;
  /** The behaviour of the adapter on node:http, in the format of `describeReceived`. */
  readonly node: string;
  /** The requests that the adapter handles, if they differ from those that a strict reader finds. */
  readonly serves?: readonly string[];
  /** The names of the cases. */
  readonly cases: readonly string[];
}

export const nodeDifferences: readonly NodeDifference[] = [
  {
    why: 'Node’s parser accepts only registered methods in upper case, and CONNECT is for proxies.',
    node: '400, closed',
    cases: ['a CONNECT with a path opens no tunnel'],
  },
  {
    why: 'RFC 9112 §3.2.2 requires the absolute form. Its host must be that of `Host`.',
    node: '200, open',
    cases: ['an absolute-form target is served or rejected'],
  },
  {
    why: 'RFC 9112 §2.2 recommends to skip an empty line before a request.',
    node: '200, open',
    cases: ['an empty line before a request is skipped or rejected'],
  },
  {
    why: 'RFC 9112 §3.2.4 requires `OPTIONS *`.',
    node: '404, open',
    cases: ['OPTIONS * is served or rejected'],
  },
  {
    why: 'HTTP/1.0 is served.',
    node: '200, closed',
    cases: ['an HTTP/1.0 request is served or rejected'],
  },
  {
    why: 'HTTP/1.0 is served.',
    node: '415, closed',
    serves: [create],
    cases: ['an HTTP/1.0 request with a body is not read as two requests'],
  },
  {
    why: 'Node limits the size of headers, not their number.',
    node: '200, open',
    serves: [list],
    cases: ['three hundred headers are rejected'],
  },
  {
    why: 'Node’s parser drops the bytes after an Upgrade in the same packet.',
    node: '200, closed',
    serves: [list],
    cases: [
      'the body of an Upgrade to h2c is not run as a request',
      'the body of an Upgrade to a WebSocket is not run as a request',
    ],
  },
  {
    why: 'Node’s parser reads the trailers of chunked requests.',
    node: '201, open',
    cases: [
      'a body in several chunks is one body',
      'a chunked POST is served',
      'a trailer is not read as a request',
      'Transfer-Encoding: chunked in other letter case is served',
    ],
  },
  {
    why: 'Node’s parser reads the trailers of chunked requests.',
    node: '200, open',
    cases: ['a chunked GET is served'],
  },
  {
    why: 'Node’s parser reads the trailers of chunked requests.',
    node: '400, open',
    cases: ['a chunked body without data is an empty body'],
  },
  {
    why: 'Node’s parser reads the trailers of chunked requests.',
    node: '201 200, open',
    cases: ['a request after a chunked request waits for its response, or the connection closes'],
  },
  {
    why: 'RFC 9112 §7.1.1 requires to ignore chunk extensions.',
    node: '201, open',
    cases: ['a chunk extension is ignored or rejected'],
  },
  {
    why: 'A request is already being handled when its body turns out to be malformed.',
    node: 'nothing, closed',
    cases: [
      'a chunk size over 64 bits is rejected',
      'a chunk that is longer than its size is rejected',
      'a chunk that is shorter than its size includes the bytes after it',
    ],
  },
  {
    why: 'Node’s parser rejects a space after `chunked`.',
    node: 'nothing, closed',
    cases: ['Transfer-Encoding: chunked with whitespace around it is served'],
  },
  {
    why: 'uWebSockets.js hides a header with an empty name, and bytes beyond ASCII at the end of a value.',
    node: '400, closed',
    cases: [
      'a Content-Length after a header with an empty name is rejected and the rest is not run',
      'a Content-Length that ends in a non-ASCII byte is rejected',
      'a header with an empty name is rejected',
    ],
  },
  {
    why: 'Node’s parser knows only `close` and `keep-alive` in `Connection`.',
    node: '200, open',
    cases: ['an unknown Connection option of five characters is ignored or closes the connection'],
  },
  {
    why: 'The adapter does not know whether a body follows `Expect: 100-continue`.',
    node: '200, closed',
    cases: ['a GET with Expect: 100-continue and no body is served'],
  },
  {
    why: 'Node’s parser also reports an error in a pipelined request.',
    node: '404 400, closed',
    cases: [
      'a framing error in a pipelined request closes the connection',
      'an error in a pipelined request does not affect the request before it',
      'garbage after a request is not run',
    ],
  },
];
