import { hash } from 'node:crypto';
import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from './collection.ts';
import { StoreError } from './storeError.ts';

// What both stores do with a record before they store it.

/**
 * The record that a create stores: the fields of the schema, and nothing else.
 * @throws {StoreError} `invalid` where the schema rejects it
 */
export function buildRecord<Stored extends StoredRecord>(
  definition: CollectionDefinition<Stored>,
  id: number,
  values: NewRecord<Stored>,
): Stored {
  const record: Record<string, unknown> = {};
  for (const field of definition.fields) {
    const value = field === 'id' ? id : field === 'version' ? 1 : (values as Fields)[field];
    if (value !== undefined) record[field] = value;
  }
  return validate(definition, record);
}

/**
 * The record after a change.
 * @throws {StoreError} `invalid` where the schema rejects it
 */
export function applyChange<Stored extends StoredRecord>(
  definition: CollectionDefinition<Stored>,
  record: Stored,
  change: RecordChange<Stored>,
): Stored {
  const after: Record<string, unknown> = Object.fromEntries(Object.entries(record));
  for (const field of definition.fields) {
    const value = (change as Fields)[field];
    if (field === 'version') after[field] = Number(after[field]) + 1;
    else if (field === 'id' || value === undefined) continue;
    else if (value === null && definition.isRemovable(field)) delete after[field];
    else after[field] = value;
  }
  return validate(definition, after);
}

type Fields = Readonly<Record<string, unknown>>;

function validate<Stored extends StoredRecord>(
  definition: CollectionDefinition<Stored>,
  record: Fields,
): Stored {
  // What the schema makes of it is not what is stored: the record would be checked, and changed, again when it is read.
  if (definition.check(record) !== undefined) return record as unknown as Stored;
  throw new StoreError(
    'invalid',
    `The schema of ${definition.name} rejects the ${definition.recordName} that was to be stored.`,
  );
}

/** The version that a caller expects. @throws {TypeError} where the records of the collection have none */
export function expectedVersion(
  { isVersioned, name }: CollectionDefinition,
  options: { readonly ifVersion?: number | undefined } | undefined,
): number | undefined {
  if (options?.ifVersion === undefined || isVersioned) return options?.ifVersion;
  throw new TypeError(`ifVersion needs a field "version" in the schema of ${name}.`);
}

/** @throws {StoreError} `version-mismatch` where a caller expects another version of a record */
export function checkVersion(
  { recordName }: CollectionDefinition,
  record: StoredRecord & { readonly version?: unknown },
  ifVersion: number | undefined,
): void {
  if (ifVersion === undefined || record.version === ifVersion) return;
  throw new StoreError(
    'version-mismatch',
    `The ${recordName} ${record.id} was changed: it has another version than ${ifVersion}.`,
  );
}

/**
 * SHA-256 of the values of a create, base64url: equal values have the same, in whatever order. It covers the fields in
 * the order of the schema, so a field that a later version adds changes it: the repeat of a create from before the
 * upgrade is then rejected as `key-reused`.
 */
export function fingerprint<Stored extends StoredRecord>(
  { fields }: CollectionDefinition<Stored>,
  values: NewRecord<Stored>,
): string {
  const ordered = fields.flatMap((field) => {
    if (field === 'id' || field === 'version') return [];
    const value = (values as Fields)[field];
    // An absent field is null, so a null is something else.
    return [value === null ? { isNull: true } : (value ?? null)];
  });
  return hash('sha256', JSON.stringify(ordered), 'base64url');
}
