import type { Side } from './optionality.ts';

export interface SchemaLocation {
  /** The owner of the schema, for messages: `Procedure "pets.list"`. */
  readonly owner: string;
  /** The path to the schema, for messages: `input.filter.tags[]`. */
  readonly path: string;
  readonly side: Side;
  /** Whether the schema is part of a schema in `TypeOptions.verbatim`. */
  readonly isVerbatim?: boolean;
}
