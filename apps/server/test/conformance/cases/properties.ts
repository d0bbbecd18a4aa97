import type { Animal } from '@petstore/core';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextPage, type Subject } from '../subject.ts';

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

/** Declares the cases that hold for generated inputs. */
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

  it('following the links with a different limit per page returns each animal once, in order', async () => {
    const client = await subject.start();
    const statuses = ['sold', 'available', undefined, 'available', 'pending', undefined, 'available'];
    const all: Animal[] = [];
    for (let at = 0; at < 70; at += 1) {
      const status = statuses[(at * at) % 7];
      all.push(await client.create({ name: String(at), ...(status !== undefined && { status }) }));
    }
    const limits = fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 5, max: 12 })), {
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.option(STATUS), async (sizes, status) => {
        const expected = all.filter((animal) => status === null || animal.status === status);
        const received: Animal[] = [];
        const query = new URLSearchParams(status === null ? {} : { status });
        for (let page = 0; ; page += 1) {
          query.set('limit', String(sizes[page % sizes.length] ?? 1));
          const response = await client.get(`/v1/pets?${query.toString()}`);
          received.push(...response.animals());
          const next = nextPage(response);
          expect(next !== undefined).toBe(received.length < expected.length);
          if (next === undefined) break;
          query.set('cursor', next.searchParams.get('cursor') ?? '');
        }
        expect(received).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });
}
