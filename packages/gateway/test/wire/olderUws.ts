/**
 * Cases that the repack of the older uWebSockets.js (uws-pack 20.0.8) treats differently from 20.69, which the tables of
 * the cases describe. They can go with it.
 */
interface OlderDifference {
  readonly why: string;
  /** The behaviour of the adapter on the older version, in the format of `describeReceived`. */
  readonly uws: string;
  /** The names of the cases. */
  readonly cases: readonly string[];
}

export const olderDifferences: readonly OlderDifference[] = [
  {
    why: 'It does not answer a malformed header line: the connection closes when it is idle.',
    uws: 'nothing, open',
    cases: [
      'NUL in a header name is rejected',
      'NUL in a header value is rejected',
      'Transfer-Encoding with a space before the colon is rejected',
      'Transfer-Encoding: chunked with a vertical tab is rejected',
      'a Content-Length with NUL is rejected',
      'a bare LF at the end of the head is rejected',
      'a bare LF before Transfer-Encoding is rejected',
      'a bare LF in a header value is rejected',
      'a bell in a header value is rejected',
      'a create after a request with NUL in its head is not stored',
      'a folded Content-Length is rejected and the rest is not run',
      'a folded Transfer-Encoding is rejected',
      'a folded header is rejected',
      'a header line without a colon is rejected',
      'a non-ASCII byte in a header name is rejected',
      'a request without any header is rejected',
      'a second request line instead of headers is rejected',
      'a space before the colon of a header is rejected',
      'a space before the first header is rejected',
      'a space in a header name is rejected',
      'an HTTP/0.9 request is rejected',
    ],
  },
  {
    why: 'It accepts several Host headers, which the adapter rejects.',
    uws: '400, closed',
    cases: [
      'a second Host header in other letter case is rejected',
      'an empty Host before a valid one is rejected',
      'two different Host headers are rejected',
    ],
  },
  {
    why: 'It does not answer a malformed pipelined request.',
    uws: '404, open',
    cases: ['an error in a pipelined request does not affect the request before it'],
  },
];
