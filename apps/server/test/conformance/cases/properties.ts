import type { Animal } from '@petstore/core';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkTarget } from '../link.ts';
import type { Subject } from '../subject.ts';

const RUNS = 200;
const STATUS = fc.constantFrom('available', 'pending', 'sold');

/** Any well-formed string: fast-check's `binary` unit excludes only lone surrogates. */
const TEXT = fc.string({ unit: 'binary' });

const NEW_PET = fc.record(
  {
    name: fc.oneof(TEXT, fc.string({ unit: 'grapheme' })),
    categoryId: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -10, max: 10 })),
    status: STATUS,
  },
  { requiredKeys: ['name', 'categoryId'], noNullPrototype: true },
);

/** Declares the cases that hold for generated inputs. */
export function propertyCases(subject: Subject): void {
  describe('for any input', () => {
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

    const stocked = subject.own(async (client) => {
      const statuses = ['sold', 'available', undefined, 'available', 'pending', undefined, 'available'];
      for (let at = 0; at < 70; at += 1) {
        const status = statuses[(at * at) % 7];
        await client.create({ name: String(at), ...(status !== undefined && { status }) });
      }
    });

    it('following the links with a different limit per page returns each animal once, in order', async () => {
      const { client } = stocked;
      const all = await client.list('?limit=100');
      expect(all).toHaveLength(70);
      const limits = fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 5, max: 12 })), {
        minLength: 1,
      });
      await fc.assert(
        fc.asyncProperty(limits, fc.option(STATUS), async (sizes, status) => {
          const expected = all.filter((animal) => status === null || animal.status === status);
          const received: Animal[] = [];
          const query = new URLSearchParams(status === null ? {} : { status });
          for (let page = 0; ; page += 1) {
            const limit = sizes[page % sizes.length] ?? 1;
            query.set('limit', String(limit));
            const response = await client.get(`/v1/pets?${query.toString()}`);
            received.push(...response.animals());
            const next = linkTarget(response.header('link'), 'next');
            expect(next !== undefined).toBe(received.length < expected.length);
            if (next === undefined) break;
            const followed = new URL(next, client.origin).searchParams;
            expect(followed.get('status')).toBe(status);
            query.set('cursor', followed.get('cursor') ?? '');
          }
          expect(received).toEqual(expected);
        }),
        { numRuns: RUNS },
      );
    });

    it('GET /pets accepts a limit exactly if it is an optional minus and digits with a value from 1 to 100', async () => {
      const digits = fc.string({
        unit: fc.constantFrom('0', '1', '5', '9', '-', '+', '.', 'e', ' ', 'x'),
        maxLength: 4,
      });
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(digits, fc.integer({ min: -5, max: 120 }).map(String), TEXT),
          async (text) => {
            const isValid = /^-?\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 100;
            const received = await stocked.client.get(`/v1/pets?limit=${encodeURIComponent(text)}`);
            expect(received.status).toBe(isValid ? 200 : 400);
            if (!isValid) return;
            expect(received.json()).toHaveLength(Math.min(Number(text), 70));
          },
        ),
        { numRuns: RUNS },
      );
    });

    it('POST /pets accepts a categoryId exactly if it is a safe integer', async () => {
      const value = fc.oneof(
        fc.jsonValue(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.maxSafeInteger(),
      );
      await fc.assert(
        fc.asyncProperty(value, async (categoryId) => {
          const { status } = await subject.client.post({ name: 'Ada', categoryId });
          expect(status).toBe(Number.isSafeInteger(categoryId) ? 201 : 400);
        }),
        { numRuns: RUNS },
      );
    });
  });
}
