import { createHash } from 'node:crypto';
import type { CollectionDefinition, StoredRecord } from '../store/collection.ts';

/**
 * SHA-256 of records in the order in which they are added: of a line of JSON each, which has the values in the order of
 * the schema's fields. An absent one is `null`.
 */
export function createRecordChecksum() {
  const hash = createHash('sha256');
  return {
    add({ fields }: CollectionDefinition, record: StoredRecord): void {
      const values = fields.map((field): unknown => Reflect.get(record, field) ?? null);
      hash.update(`${JSON.stringify(values)}\n`);
    },
    /** Hexadecimal. Call it once. */
    digest: () => hash.digest('hex'),
  };
}
