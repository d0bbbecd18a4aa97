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
    cases: ['a folded Content-Length is rejected and the rest is not run'],
  },
  {
    why: 'It accepts several Host headers, which the adapter rejects.',
    uws: '400, closed',
    cases: ['an empty Host before a valid one is rejected', 'two different Host headers are rejected'],
  },
  {
    why: 'It does not answer a malformed pipelined request.',
    uws: '404, open',
    cases: ['an error in a pipelined request does not affect the request before it'],
  },
];
