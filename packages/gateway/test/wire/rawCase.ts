/** Bytes that are sent on one connection, and the expected behaviour of each server. */
export interface RawCase {
  /** A sentence of the specification. */
  readonly name: string;
  /** The sent bytes, one character per byte. */
  readonly bytes: string;
  /** The requests, as method and target, that a strict reader finds in the bytes. No others may be handled. */
  readonly serves: readonly string[];
  /** The behaviour of the adapter on uWebSockets.js 20.69, in the format of `describeReceived`. */
  readonly uws: string;
  /** Heading in docs/adapters.md of a limitation of uWebSockets.js, which the case pins until it is fixed. */
  readonly knownLimitation?: string;
  readonly differences: Differences;
}

/** What other parsers do. If two reject a request, their rejections may differ: 400, 505 or no response, at once or after 10 s. */
interface Differences {
  /** The behaviour of the adapter on node:http. */
  readonly node?: string;
  /** The requests that the adapter on node:http handles, if they differ. */
  readonly serves?: readonly string[];
  /** The behaviour on the repack of the older uWebSockets.js, uws-pack 20.0.8. These can go with it. */
  readonly older?: string;
}

/** A comment before a row, and those after it, has the requirement, and the section of the RFC. */
type Row = readonly [name: string, bytes: string, differences?: Differences];

/** Builds the cases that a server treats alike. */
export const rawCases = (
  common: Omit<RawCase, 'name' | 'bytes' | 'differences'>,
  rows: readonly Row[],
): readonly RawCase[] =>
  rows.map(([name, bytes, differences = {}]) => ({ ...common, name, bytes, differences }));
