import type { Database } from 'lmdb';
import type { Animal, NewPet, PetStatus } from '../../schemas.ts';
import type { ListQuery, Page } from '../store.ts';
import { openCounter } from './counter.ts';
import { damaged } from './errors.ts';
import { idKey } from './idKey.ts';
import type { DataFolder } from './open.ts';
import { animalRow, type Decoded } from './rows.ts';
import { collect, openTable, put } from './table.ts';

/** An entry of a status index says all in its key. */
const NOTHING = Buffer.alloc(0);

/** Animals by their id, and the ids of each status. */
export function openAnimalTables({ root }: DataFolder) {
  const rows: Database<Decoded<Animal>, number> = openTable(root, 'animals', {
    encoder: animalRow,
    keyEncoder: idKey,
  });
  const openIds = (status: PetStatus): Database<Buffer, number> =>
    openTable(root, `animals.${status}`, { encoding: 'binary', keyEncoder: idKey });
  const ids = { available: openIds('available'), pending: openIds('pending'), sold: openIds('sold') };
  return { rows, ids };
}

/**
 * Animals: a row for each by its id, and for each status the ids that have it, so that a page costs the same wherever it
 * starts, however many animals there are and however rare the status is.
 */
export function openAnimals(folder: DataFolder) {
  const { path } = folder;
  const counter = openCounter(folder, 'lastAnimalId');
  const { rows, ids } = openAnimalTables(folder);

  /** The animal, where it is the one that was stored under this id, and with this status if one is named. */
  function checked(id: number, animal: Decoded<Animal> | undefined, status = animal?.status): Animal {
    if (animal?.id === id && animal.status === status) return animal;
    throw damaged(path, `the record of animal ${id} is not what was stored`);
  }

  function store(id: number, animal: Animal): void {
    put(rows, id, animal);
    if (animal.status !== undefined) put(ids[animal.status], id, NOTHING);
  }

  return {
    /** Adds an animal under the next id. Only inside a write transaction. */
    insert({ name, categoryId, status }: NewPet): Animal {
      const id = counter.last() + 1;
      const animal: Animal =
        status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };
      // Whatever became of the counter, no animal is ever overwritten.
      if (rows.doesExist(id)) throw damaged(path, `animal ${id} was there already`);
      store(id, animal);
      counter.set(id);
      return animal;
    },

    /** Adds an animal under the id that it has: it must be free. Only inside a write transaction. */
    restore(animal: Animal): void {
      store(animal.id, animal);
    },

    count(): number {
      return rows.getCount();
    },

    get(id: number): Animal | undefined {
      const animal = rows.get(id);
      return animal === undefined ? undefined : checked(id, animal);
    },

    /** An animal that must be there. */
    existing(id: number): Animal {
      return checked(id, rows.get(id));
    },

    /** Animals after an id, in ascending order of id: at most so many, and none after one that is the last. */
    batch(after: number, limit: number, isLast: (animal: Animal) => boolean): Animal[] {
      const range = rows.getRange({ start: Math.max(after, 0) + 1 });
      return collect(
        range.map(({ key, value }) => checked(key, value)),
        limit,
        isLast,
      );
    },

    list({ limit, status, cursor = 0 }: ListQuery): Page {
      // One more than asked for says whether there is a next page.
      const range = { start: Math.max(cursor, 0) + 1, limit: limit + 1 };
      if (status === undefined) {
        const found = collect(rows.getRange(range));
        return {
          animals: found.slice(0, limit).map(({ key, value }) => checked(key, value)),
          hasNext: found.length > limit,
        };
      }
      const found = collect(ids[status].getKeys(range));
      return {
        animals: found.slice(0, limit).map((id) => checked(id, rows.get(id), status)),
        hasNext: found.length > limit,
      };
    },
  };
}
