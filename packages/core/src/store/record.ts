import { hash } from 'node:crypto';
import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from './collection.ts';
import { StoreError } from './storeError.ts';

// Every store prepares and checks records with these functions before it writes.

/** Returns a create's record: the schema's fields. @throws {StoreError} `invalid` if the schema rejects it */
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

/** Returns the record after a change. @throws {StoreError} `invalid` if the schema rejects it */
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

/** Returns why the schema rejects a stored record, as a clause. */
export const mismatch = ({ schema, name }: CollectionDefinition, record: unknown): string => {
  const issue = schema.safeParse(record).error?.issues[0];
  return `the schema of ${name} in this version rejects it (${issue?.path.join('.')}: ${issue?.message})`;
};

/** Throws for a stored record that the schema rejects: it has changed since. @param store such as "the database pets" */
export function throwIncompatible(
  definition: CollectionDefinition,
  record: StoredRecord,
  store: string,
): never {
  throw new StoreError(
    'incompatible',
    `The ${definition.recordName} ${record.id} in ${store} cannot be read: ${mismatch(definition, record)}. Start the version that stored it, or let the schema accept it.`,
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

/** How long a retry with an idempotency key returns the first result, in milliseconds: 24 hours. */
export const RESERVATION_MS = 86_400_000;

/** Maximum number of idempotency keys per caller and day. Each takes 400 bytes until it expires. */
export const MAX_RESERVATIONS = 100_000;

/** The caller has to wait until its oldest reservations expire, or to create records without a key. */
export const tooManyReservations = (limit: number, waitMs: number) =>
  new StoreError(
    'too-many-reservations',
    `The caller has used ${limit} idempotency keys within a day, which is the limit for one caller.`,
    { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) },
  );

/** SHA-256 (base64url) of a create's present fields by name: new optional fields change no fingerprint. */
export function fingerprint<Stored extends StoredRecord>(
  { fields }: CollectionDefinition<Stored>,
  values: NewRecord<Stored>,
): string {
  const entries = fields
    .filter((field) => !isAssigned(field))
    .map((field) => [field, (values as Fields)[field]]);
  return sha256(JSON.stringify(Object.fromEntries(entries), sortProperties));
}

const isAssigned = (field: string) => field === 'id' || field === 'version';

const sha256 = (text: string) => hash('sha256', text, 'base64url');

/** A replacer for `JSON.stringify` that writes the properties of objects in alphabetical order. */
const sortProperties = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;
