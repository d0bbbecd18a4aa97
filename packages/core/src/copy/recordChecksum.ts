import { createHash } from 'node:crypto';
import type { CollectionDefinition, StoredRecord } from '../store/collection.ts';

/**
 * Creates a SHA-256 of records in the order in which they are added. Each record is hashed as a line of JSON: an array of
 * its values in the order of the schema's fields, with `null` for an absent field.
 */
export function createRecordChecksum() {
  const hash = createHash('sha256');
  return {
    add({ fields }: CollectionDefinition, record: StoredRecord): void {
      const values = fields.map((field): unknown => Reflect.get(record, field) ?? null);
      hash.update(`${JSON.stringify(values)}\n`);
    },
    /** Returns the hash as hex. Call it once. */
    digest: () => hash.digest('hex'),
  };
}
