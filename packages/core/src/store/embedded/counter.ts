import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { put } from './table.ts';

/** Name of the counter of API keys. */
export const KEY_COUNTER = 'lastKeyNumber';

/** Returns the name of the id counter of a collection. */
export const recordCounter = (collection: string) => `${collection}.lastRecordId`;

/** Opens a durable counter. It assigns each number once. */
export function openCounter({ path, meta }: DataFolder, name: string) {
  return {
    /** Returns the last assigned number; 0 before the first. */
    last(): number {
      const last = meta.get(name);
      if (typeof last !== 'number') throw damaged(path, `petstore.mdb has no counter ${name}`);
      return last;
    },
    /** Call it inside a write transaction. */
    set(last: number): void {
      put(meta, name, last);
    },
  };
}
