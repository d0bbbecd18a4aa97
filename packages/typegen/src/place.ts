import type { Side } from './optionality.ts';

/** Where a schema is spelled. */
export interface Place {
  /** What is spelled, for messages: `The procedure pets.list`. */
  readonly owner: string;
  /** The way to the schema, for messages: `input.filter.tags[]`. */
  readonly path: string;
  readonly side: Side;
  /** Whether it is a part of a schema in `SpellOptions.verbatim`. */
  readonly isVerbatim?: boolean;
}
