import { createHash } from 'node:crypto';
import type { Animal } from '../schemas.ts';

/**
 * SHA-256 of animals in the order in which they are added: of a line of JSON each, `[id, name, categoryId, status]`,
 * where an absent status is `null`.
 */
export function createAnimalChecksum() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add({ id, name, categoryId, status }: Animal): void {
      hash.update(`${JSON.stringify([id, name, categoryId, status ?? null])}\n`);
      count++;
    },
    count: () => count,
    /** Hexadecimal. To be asked for once. */
    digest: () => hash.digest('hex'),
  };
}
