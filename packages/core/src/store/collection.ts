import { z } from 'zod';
import type { RowCodec } from './rowCodec.ts';

/** A record: what a collection stores under an id. Its fields are JSON values. */
export interface StoredRecord {
  readonly id: number;
}

/** Where an optional field may also be given as `undefined`. */
type Loose<T> = {
  readonly [Key in keyof T]: T extends Record<Key, unknown> ? T[Key] : T[Key] | undefined;
};

/** What the store assigns. */
type Assigned = 'id' | 'version';

/** The fields of a record that is to be created: all but `id` and `version`, which the store assigns. */
export type NewRecord<Stored extends StoredRecord> = Loose<Omit<Stored, Assigned>>;

/** The fields to change. A field that is absent or `undefined` stays as it is; `null` removes an optional field. */
export type RecordChange<Stored extends StoredRecord> = {
  readonly [Key in Exclude<keyof Stored, Assigned>]?:
    | Stored[Key]
    | undefined
    | (Stored extends Record<Key, unknown> ? never : null);
};

/** Whether two records may have the same value in an indexed field. */
export type IndexKind = 'plain' | 'unique';

/** A collection of records, as the stores, `copy` and `verify` see it. Make it with `defineCollection`. */
export interface CollectionDefinition<
  Stored extends StoredRecord = StoredRecord,
  Indexed extends string = string,
> {
  /** Plural, such as `animals`: the name of its table, or of its collection in a database. */
  readonly name: string;
  /** The singular, for messages. */
  readonly recordName: string;
  /** In the order of the schema. */
  readonly fields: readonly string[];
  readonly indexes: Readonly<Record<Indexed, IndexKind>>;
  /** Whether its records have a `version`. */
  readonly isVersioned: boolean;
  readonly row: RowCodec<Stored> | undefined;
  /** The record, where a value is what the schema describes; `undefined` where it is not. */
  check(value: unknown): Stored | undefined;
  /** Whether `null` in a change removes this field. */
  isRemovable(field: string): boolean;
}

type Index<Field extends string> = Field | { readonly field: Field; readonly unique: true };

type FieldOf<Entry> = Entry extends { readonly field: infer Field extends string }
  ? Field
  : Extract<Entry, string>;

interface CollectionOptions<Schema extends z.ZodObject, Entry> {
  /** Lower case and plural, such as `animals`. */
  readonly name: string;
  /**
   * A zod object with an integer `id`. Rows are checked with it when they are read, so it must accept every record that
   * was ever stored. With an integer `version` the records are versioned: the store counts their changes, from 1.
   */
  readonly schema: Schema;
  /** Ids ascend from 1, and none is given twice. */
  readonly id: 'sequence';
  /**
   * Fields that `list` can filter by: a page costs the same wherever it starts, however rare the value. `unique` rejects
   * a second record with the same value.
   */
  readonly indexes?: readonly Entry[];
  /** How the embedded store lays a record out. Default: JSON. */
  readonly row?: RowCodec<z.output<Schema> & StoredRecord>;
}

/** Names that the stores use themselves. */
const RESERVED = new Set(['counters', 'keys', 'meta', 'reservations']);

/**
 * Defines a collection.
 * @example
 * export const animals = defineCollection({ name: 'animals', schema: Animal, id: 'sequence', indexes: ['status'] });
 */
export function defineCollection<
  Schema extends z.ZodObject<{ id: z.ZodType<number> }>,
  const Entry extends Index<Exclude<keyof z.output<Schema>, Assigned> & string> = never,
>(options: CollectionOptions<Schema, Entry>): CollectionDefinition<z.output<Schema>, FieldOf<Entry>> {
  const { name, schema, indexes = [], row } = options;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const fields = Object.keys(shape);
  if (!/^[a-z][a-zA-Z]*$/.test(name) || RESERVED.has(name)) {
    throw new TypeError(
      `A collection cannot be named ${JSON.stringify(name)}: use a plural such as "animals".`,
    );
  }
  const hidden = fields.find((field) => field.startsWith('_'));
  if (hidden !== undefined) {
    throw new TypeError(
      `The collection ${name} has a field ${hidden}: names that begin with _ are the store's own.`,
    );
  }
  let compiled: Schema | undefined;
  const indexKinds = indexes.map((index): [string, IndexKind] =>
    typeof index === 'string' ? [index, 'plain'] : [index.field, 'unique'],
  );
  return {
    name,
    recordName: singular(name),
    fields,
    // The entries are the indexes of the type.
    indexes: Object.fromEntries(indexKinds) as Record<FieldOf<Entry>, IndexKind>,
    isVersioned: 'version' in shape,
    row,
    check(value) {
      // Compiled, a check takes a fifth of the time: 3% of a create with 256 callers (`npm run bench:creates`).
      compiled ??= z.compile(schema);
      const { success, data } = compiled.safeParse(value);
      return success ? data : undefined;
    },
    isRemovable(field) {
      const fieldSchema = z.object({ [field]: shape[field] ?? z.never() });
      return fieldSchema.safeParse({}).success && !fieldSchema.safeParse({ [field]: null }).success;
    },
  };
}

/** The singular of a collection's name, for messages: `animals` → `animal`, `categories` → `category`. */
export const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '');

/** The indexed field that a `where` names, and its value; `undefined` where it names none. */
export function indexedCondition<Indexed extends string>(
  { name, indexes }: CollectionDefinition<StoredRecord, Indexed>,
  where: Readonly<Partial<Record<Indexed, unknown>>> | undefined,
): { readonly field: Indexed; readonly value: unknown } | undefined {
  let condition: { field: Indexed; value: unknown } | undefined;
  for (const field in where) {
    const value = where[field];
    if (value === undefined) continue;
    if (condition !== undefined || indexes[field] === undefined) {
      throw new TypeError(
        `list() of ${name} filters by one of its indexes: ${Object.keys(indexes).join(', ')}.`,
      );
    }
    condition = { field, value };
  }
  return condition;
}

/** For a collection that a store was not opened with. */
export const unknownCollection = ({ name }: { readonly name: string }) =>
  new TypeError(`The store was opened without the collection ${name}: add it to collections.ts.`);
