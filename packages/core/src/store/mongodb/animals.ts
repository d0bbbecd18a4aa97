import type { Collection } from 'mongodb';
import type { Animal, NewPet } from '../../schemas.ts';
import type { ListQuery, Page } from '../store.ts';
import { isDuplicate, type Place, storeError } from './errors.ts';
import type { Operation } from './operation.ts';
import { type AnimalRow, decodeAnimal, encodeAnimal, int64 } from './rows.ts';

/** The animal that a create stores. */
export const animalOf = (id: number, { name, categoryId, status }: NewPet): Animal =>
  status === undefined ? { id, name, categoryId } : { id, name, categoryId, status };

/** Whether both are one animal, field by field: a database knows no -0, which a client may send. */
export const isSameAnimal = (one: Animal, other: Animal | undefined): boolean =>
  one.id === other?.id &&
  one.name === other.name &&
  one.categoryId === other.categoryId &&
  one.status === other.status;

/** Animals by their id; `{status, _id}` is an index, so that a page costs the same wherever it starts. */
export function openAnimals(rows: Collection<AnimalRow>, place: Place) {
  const checked = (row: AnimalRow) => checkedAnimal(row, place);

  async function get(operation: Operation, id: number): Promise<Animal | undefined> {
    const row = await rows.findOne({ _id: operation.sends(int64(id)) }, operation.call);
    return row === null ? undefined : checked(row);
  }

  /** @returns whether it was stored; `false` where an animal has its id already */
  async function insert(operation: Operation, animal: Animal): Promise<boolean> {
    const row = encodeAnimal(animal);
    try {
      await rows.insertOne({ ...row, _id: operation.stores(row._id) }, operation.call);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  return {
    get,
    insert,

    async list(operation: Operation, { limit, status, cursor = 0 }: ListQuery): Promise<Page> {
      const after = { $gt: operation.sends(int64(Math.max(cursor, 0))) };
      const filter = status === undefined ? { _id: after } : { status, _id: after };
      // One more than asked for says whether there is a next page.
      const options = { ...operation.call, sort: { _id: 1 }, limit: limit + 1 } as const;
      const found = await rows.find(filter, options).toArray();
      return { animals: found.slice(0, limit).map(checked), hasNext: found.length > limit };
    },
  };
}

/** @throws {StoreError} `damaged` for a document that somebody else wrote */
export function checkedAnimal(row: AnimalRow, place: Place): Animal {
  const animal = decodeAnimal(row);
  if (animal === null) throw storeError('damaged', place, `animal ${String(row._id)} is not what was stored`);
  return animal;
}

export type Animals = ReturnType<typeof openAnimals>;
