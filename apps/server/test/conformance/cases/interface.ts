import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const pet = { name: 'Ada', categoryId: 1 };

/** Values that each field of a body rejects. */
const invalid = {
  name: [5, null],
  categoryId: [5.5, '5', true, null],
  status: ['', 'AVAILABLE', null],
};

/**
 * Declares the cases about each line of docs/interface.md#pet-store-service-interface, except lists (`pages.ts`), the
 * document (`document.ts`) and credentials (`authentication.ts`).
 */
export function interfaceCases(subject: Subject): void {
  describe('docs/interface.md#what-the-service-does', () => {
    it('the service creates an animal, lists it and returns it by its id, as JSON', async () => {
      const { client } = subject;
      const created = await client.post({ name: 'Ada', categoryId: 3, status: 'pending' });
      expect(created).toHaveStatus(201);
      const animal = created.animal();
      expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'pending' });
      const got = await client.get(`/v1/pets/${animal.id}`);
      const listed = await client.get(`/v1/pets?cursor=${animal.id - 1}&limit=1`);
      expect([got.json(), listed.json()]).toEqual([animal, [animal]]);
      for (const response of [created, got, listed]) {
        expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
      }
    });
  });

  it('docs/interface.md#animal-pet: 20 concurrent, identical creates have 20 ids', async () => {
    const { client } = subject;
    const animals = await Promise.all(Array.from({ length: 20 }, () => client.create({})));
    expect(new Set(animals.map(({ id }) => id)).size).toBe(20);
  });

  describe('docs/interface.md#newpet-request-body-for-creation', () => {
    it.each(
      Object.entries(invalid).flatMap(([field, values]) =>
        values.map((value) => [field, JSON.stringify(value), value] as const),
      ),
    )('POST /pets rejects the %s %s with 400', async (field, _text, value) => {
      expect(await subject.client.post({ ...pet, [field]: value })).toBeError(400, field);
    });

    it('POST /pets names each missing and each invalid field in a readable message', async () => {
      const { client } = subject;
      expect(await client.post({})).toBeError(400, 'name', 'categoryId');
      const response = await client.post({ categoryId: '5', status: 'lost' });
      expect(response).toBeError(400, 'name', 'categoryId', 'status');
      expect(response.error().message).not.toMatch(/[[{]"|"code"|ZodError|invalid_type|\\n|\n/);
    });
  });

  describe('docs/interface.md#petstatus', () => {
    it.each(['', 'AVAILABLE', 'sold,pending'])('GET /pets?status=%s answers 400', async (status) => {
      expect(await subject.client.get(`/v1/pets?status=${status}`)).toBeError(400, 'status');
    });
  });
}
