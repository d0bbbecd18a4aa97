import type { Side } from './optionality.ts';

/** Where a schema stands. */
export interface Place {
  /** The owner of the schema, for messages: `The procedure pets.list`. */
  readonly owner: string;
  /** The way to the schema, for messages: `input.filter.tags[]`. */
  readonly path: string;
  readonly side: Side;
  /** Whether it is a part of a schema in `TypeOptions.verbatim`. */
  readonly isVerbatim?: boolean;
}
