import { damaged } from './errors.ts';
import type { CounterName, DataFolder } from './open.ts';
import { put } from './table.ts';

/** A durable counter: what it counts is never given twice. */
export function openCounter({ path, meta }: DataFolder, name: CounterName) {
  return {
    /** The last number given; 0 before the first. */
    last(): number {
      const last = meta.get(name);
      if (typeof last !== 'number') throw damaged(path, `petstore.mdb does not say which ${name} was given`);
      return last;
    },
    /** Only inside a write transaction. */
    set(last: number): void {
      put(meta, name, last);
    },
  };
}
