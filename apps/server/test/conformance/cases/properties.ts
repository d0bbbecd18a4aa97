import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const RUNS = 200;
const STATUS = fc.constantFrom('available', 'pending', 'sold');

const NEW_PET = fc.record(
  {
    // Any well-formed string: fast-check's `binary` unit excludes only lone surrogates.
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })),
    categoryId: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -10, max: 10 })),
    status: STATUS,
  },
  { requiredKeys: ['name', 'categoryId'], noNullPrototype: true },
);

/** Declares the case of generated animals. */
export function propertyCases(subject: Subject): void {
  it('POST, its Location and the list return any valid NewPet unchanged', async () => {
    const { client } = subject;
    await fc.assert(
      fc.asyncProperty(NEW_PET, async (pet) => {
        const created = await client.post(pet);
        expect(created).toHaveStatus(201);
        const animal = created.animal();
        expect(animal).toStrictEqual({ id: animal.id, ...pet });
        expect((await client.get(created.header('location') ?? '')).json()).toStrictEqual(animal);
        const filter = pet.status === undefined ? '' : `&status=${pet.status}`;
        expect(await client.list(`?cursor=${animal.id - 1}&limit=1${filter}`)).toStrictEqual([animal]);
      }),
      { numRuns: RUNS },
    );
  });
}
