import { isDeepStrictEqual } from 'node:util';
import {
  batchLimit,
  type CollectionDefinition,
  type CollectionTransfer,
  recordConflict,
  type StoreTransfer,
} from '@petstore/core/store';
import type { Access } from './access.ts';
import { Records } from './collection.ts';
import type { DataFolder } from './folder.ts';
import type { openReservations } from './reservations.ts';

export function createTransfer(
  folder: DataFolder,
  definitions: readonly CollectionDefinition[],
  reservations: ReturnType<typeof openReservations>,
  { read, write }: Access,
): StoreTransfer {
  const collections = definitions.map((definition): CollectionTransfer => {
    const records = new Records(folder, definition);
    return {
      definition,
      count: () => read(() => records.count()),
      records: (after, limit, maxBytes) => read(() => records.batch(after, limit, batchLimit(maxBytes))),
      put: (incoming) =>
        write(() => {
          const missing = incoming.filter((record) => {
            const stored = records.get(record.id);
            if (stored === undefined) return true;
            if (isDeepStrictEqual(stored, record)) return false;
            throw recordConflict(definition, record.id);
          });
          for (const record of missing) records.restore(record);
          return missing.length;
        }),
      lastId: () => read(() => records.lastId()),
      raiseLastId: (id) => write(() => records.raiseLastId(id)),
    };
  });
  return {
    collections,
    reservations: (after, limit) => read(() => reservations.list(after, limit, Date.now())),
    putReservations: (incoming) => write(() => reservations.restore(incoming, Date.now())),
  };
}
