import { damaged } from './errors.ts';
import type { DataFolder } from './folder.ts';
import { put } from './table.ts';

/** Counts API keys. */
export const KEY_COUNTER = 'lastKeyNumber';

/** The name of the counter of a collection's ids. */
export const recordCounter = (collection: string) => `${collection}.lastId`;

/** A durable counter: what it counts is never given twice. */
export function openCounter({ path, meta }: DataFolder, name: string) {
  return {
    /** The last number given; 0 before the first. */
    last(): number {
      const last = meta.get(name);
      if (typeof last !== 'number') throw damaged(path, `petstore.mdb has no counter ${name}`);
      return last;
    },
    /** Only inside a write transaction. */
    set(last: number): void {
      put(meta, name, last);
    },
  };
}
