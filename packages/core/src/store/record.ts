import { hash } from 'node:crypto';
import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from './collection.ts';
import { StoreError } from './storeError.ts';

// Both stores prepare and check records with these functions before they write.

/**
 * Returns the record that a create stores. It contains the fields of the schema only.
 * @throws {StoreError} `invalid` if the schema rejects it
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
 * Returns the record after a change.
 * @throws {StoreError} `invalid` if the schema rejects it
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
  // The input is stored, not the schema's output: a schema that transforms values would transform them again on each read.
  if (definition.check(record) !== undefined) return record as unknown as Stored;
  throw new StoreError(
    'invalid',
    `The ${definition.recordName} does not match the schema of ${definition.name}.`,
  );
}

/** Returns `ifVersion`. @throws {TypeError} if the collection has no field `version` */
export function expectedVersion(
  { isVersioned, name }: CollectionDefinition,
  options: { readonly ifVersion?: number | undefined } | undefined,
): number | undefined {
  if (options?.ifVersion === undefined || isVersioned) return options?.ifVersion;
  throw new TypeError(`ifVersion needs a field "version" in the schema of ${name}.`);
}

/** @throws {StoreError} `version-mismatch` if the record does not have the version that the caller expects */
export function checkVersion(
  { recordName }: CollectionDefinition,
  record: StoredRecord & { readonly version?: unknown },
  ifVersion: number | undefined,
): void {
  if (ifVersion === undefined || record.version === ifVersion) return;
  throw new StoreError(
    'version-mismatch',
    `The ${recordName} ${record.id} was changed: its version is no longer ${ifVersion}.`,
  );
}

/**
 * Returns the SHA-256 of the values of a create as base64url. The order of the properties does not matter. The hash covers
 * the fields in the order of the schema, so adding a field changes it: a retry of a create from before the upgrade is then
 * rejected with `key-reused`.
 */
export function fingerprint<Stored extends StoredRecord>(
  { fields }: CollectionDefinition<Stored>,
  values: NewRecord<Stored>,
): string {
  const ordered = fields.flatMap((field) => {
    if (field === 'id' || field === 'version') return [];
    const value = (values as Fields)[field];
    // `null` encodes an absent field, so a null value is encoded as an object.
    return [value === null ? { isNull: true } : (value ?? null)];
  });
  return hash('sha256', JSON.stringify(ordered), 'base64url');
}
