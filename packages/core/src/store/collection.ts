import { z } from 'zod';

/** A record of a collection. Its fields are JSON values. */
export interface StoredRecord {
  readonly id: number;
}

/** Allows `undefined` for optional fields. */
type Loose<T> = {
  readonly [Key in keyof T]: T extends Record<Key, unknown> ? T[Key] : T[Key] | undefined;
};

type Assigned = 'id' | 'version';

/** The fields of a new record: all except `id` and `version`, which the store assigns. */
export type NewRecord<Stored extends StoredRecord> = Loose<Omit<Stored, Assigned>>;

/** The fields to change. Absent and `undefined` fields stay unchanged; `null` removes an optional field. */
export type RecordChange<Stored extends StoredRecord> = {
  readonly [Key in Exclude<keyof Stored, Assigned>]?:
    | Stored[Key]
    | undefined
    | (Stored extends Record<Key, unknown> ? never : null);
};

/** `unique`: no two records may have the same value in the indexed field. `plain`: they may. */
export type IndexKind = 'plain' | 'unique';

/** Definition of a collection for the stores, `copy` and `verify`. Create it with `defineCollection`. */
export interface CollectionDefinition<
  Stored extends StoredRecord = StoredRecord,
  Indexed extends string = string,
> {
  /** Plural, such as `animals`. Also the name of the LMDB table or the MongoDB collection. */
  readonly name: string;
  /** Singular, for messages. */
  readonly recordName: string;
  /** Rows are validated with it when they are read. */
  readonly schema: z.ZodObject;
  /** Names of the fields in the order of the schema. */
  readonly fields: readonly string[];
  readonly indexes: Readonly<Record<Indexed, IndexKind>>;
  /** Whether the schema has a field `version`. */
  readonly isVersioned: boolean;
  /** @returns the record, or `undefined` if the value does not match the schema */
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
   * A zod object with an integer `id`. Rows are validated when they are read, so it must accept every record that was ever
   * stored. With an integer `version`, the store sets it to 1 on creation and increments it with each change.
   */
  readonly schema: Schema;
  /** Ids ascend from 1 and are never reused. */
  readonly id: 'sequence';
  /**
   * Fields that `list` can filter by. The cost of a page does not depend on where it starts or how rare the value is.
   * `unique` rejects a second record with the same value.
   */
  readonly indexes?: readonly Entry[];
}

/** Names of the stores' internal tables. */
const RESERVED = new Set(['counters', 'keys', 'meta', 'reservations']);

/**
 * Defines a collection.
 * @throws {TypeError} if the name is reserved or malformed, or a field begins with `_` or has values that JSON does not have
 * @example
 * export const animals = defineCollection({ name: 'animals', schema: Animal, id: 'sequence', indexes: ['status'] });
 */
export function defineCollection<
  Schema extends z.ZodObject<{ id: z.ZodType<number> }>,
  const Entry extends Index<Exclude<keyof z.output<Schema>, Assigned> & string> = never,
>(options: CollectionOptions<Schema, Entry>): CollectionDefinition<z.output<Schema>, FieldOf<Entry>> {
  const { name, schema, indexes = [] } = options;
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
      `The collection ${name} has a field ${hidden}. Names that begin with _ are reserved for the store.`,
    );
  }
  for (const [field, fieldSchema] of Object.entries(shape)) rejectUnstorable(name, field, fieldSchema);
  let compiled: Schema | undefined;
  const indexKinds = indexes.map((index): [string, IndexKind] =>
    typeof index === 'string' ? [index, 'plain'] : [index.field, 'unique'],
  );
  return {
    name,
    recordName: singular(name),
    schema,
    fields,
    // `indexKinds` has one entry per index of the type.
    indexes: Object.fromEntries(indexKinds) as Record<FieldOf<Entry>, IndexKind>,
    isVersioned: 'version' in shape,
    check(value) {
      // A compiled schema takes a fifth of the time: 3% of a create with 256 callers.
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

/** @throws {TypeError} if JSON does not have the field's values: a row would not return what was stored */
function rejectUnstorable(name: string, field: string, schema: z.ZodType): void {
  try {
    z.toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(
      `The collection ${name} cannot store the field ${field}: ${why}. Rows are JSON: use a type that JSON has, such as a string for a date.`,
      { cause: error },
    );
  }
}

/** Returns the singular of a collection's name, for messages: `animals` → `animal`, `categories` → `category`. */
export const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/s$/, '');

export const uniqueFields = <Indexed extends string>({
  indexes,
}: CollectionDefinition<StoredRecord, Indexed>): Indexed[] =>
  (Object.keys(indexes) as Indexed[]).filter((field) => indexes[field] === 'unique');

/** An indexed field, and the value that it must have. */
export interface IndexedCondition<Indexed extends string> {
  readonly field: Indexed;
  readonly value: unknown;
}

/** The indexed field of a `where`, if any. @throws {TypeError} for several, or one without an index */
export function indexedCondition<Indexed extends string>(
  { name, indexes }: CollectionDefinition<StoredRecord, Indexed>,
  where: Readonly<Partial<Record<Indexed, unknown>>> | undefined,
): IndexedCondition<Indexed> | undefined {
  let condition: IndexedCondition<Indexed> | undefined;
  for (const field in where) {
    const value = where[field];
    if (value === undefined) continue;
    if (condition !== undefined || indexes[field] === undefined) {
      throw new TypeError(
        `list() of ${name} can filter only by one of its indexes: ${Object.keys(indexes).join(', ')}.`,
      );
    }
    condition = { field, value };
  }
  return condition;
}
