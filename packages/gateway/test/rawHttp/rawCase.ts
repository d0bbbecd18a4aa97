/** Bytes on a connection, and what becomes of them. */
export interface RawCase {
  /** A sentence of the specification. */
  readonly name: string;
  /** What the RFC demands, and where. */
  readonly rule: string;
  /** What is sent, a character for each byte. */
  readonly bytes: string;
  /** The requests, as method and target, that a strict reader finds in it, and no others. */
  readonly serves: readonly string[];
  /** What this host does, in the words of `tell`. */
  readonly us: string;
  /** What `node:http` of Node 22 does. */
  readonly node: string;
  /**
   * The heading in docs/edge.md of what JavaScript cannot mend: the case pins what happens, which is not what the RFC
   * demands. When another build of uWebSockets.js mends it, the case fails and moves.
   */
  readonly unmended?: string;
}

type Row = readonly [
  name: string,
  rule: string,
  bytes: string,
  serves: readonly string[],
  us: string,
  node: string,
  unmended?: string,
];

/** A table of cases. */
export const rawCases = (rows: readonly Row[]): readonly RawCase[] =>
  rows.map(([name, rule, bytes, serves, us, node, unmended]) => ({
    name,
    rule,
    bytes,
    serves,
    us,
    node,
    ...(unmended === undefined ? {} : { unmended }),
  }));
