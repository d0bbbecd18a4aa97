import { describe, expect, it } from 'vitest';
import type { Subject } from './subject.ts';

const NOT_TEXT = [5, true, null, [], {}] as const;
const NOT_AN_INTEGER = [5.5, '5', '', 'abc', true, null, [], [5], {}] as const;
const NO_STATUS = [
  '',
  'Available',
  'AVAILABLE',
  'reserved',
  ' sold',
  0,
  true,
  null,
  [],
  ['sold'],
  {},
] as const;
const STATUSES = ['available', 'pending', 'sold'] as const;
const NO_ANIMAL = '/v1/pets/9007199254740991';

/** docs/interface.md#pet-store-service-interface, line by line, but for lists (`pages.ts`) and the document (`document.ts`). */
export function interfaceCases(subject: Subject): void {
  describe('docs/interface.md#what-the-service-does', () => {
    it('lists animals, adds one, and fetches one by its identifier', async () => {
      const { client } = subject;
      const animal = await client.create({ name: 'Ada', categoryId: 3, status: 'pending' });
      expect(await client.list(`?cursor=${animal.id - 1}&limit=1`)).toEqual([animal]);
      expect((await client.get(`/v1/pets/${animal.id}`)).json()).toEqual(animal);
    });

    it('answers in application/json', async () => {
      const { client } = subject;
      const responses = [await client.get('/v1/pets'), await client.post({ name: 'Ada', categoryId: 1 })];
      for (const response of responses)
        expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
    });

    it('serves below a base address whose last segment is v1', async () => {
      expect(await subject.client.get('/pets', { authorization: null })).toBeError(404);
      expect(await subject.client.get('/v2/pets')).toBeError(404);
    });
  });

  describe('docs/interface.md#animal-pet', () => {
    it('is the fields of NewPet and an integer id that the service assigned', async () => {
      const received = await subject.client.post({ name: 'Ada', categoryId: 3, status: 'sold' });
      const animal = received.animal();
      expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'sold' });
      expect(Number.isSafeInteger(animal.id)).toBe(true);
    });

    it('gets an id of its own each time, also when nothing else differs', async () => {
      const { client } = subject;
      const animals = await Promise.all(Array.from({ length: 20 }, () => client.create({})));
      expect(new Set(animals.map(({ id }) => id)).size).toBe(20);
    });
  });

  describe('docs/interface.md#newpet-request-body-for-creation', () => {
    it.each(['name', 'categoryId'])('requires %s', async (field) => {
      const { [field]: _left, ...rest } = { name: 'Ada', categoryId: 1, status: 'sold' } as Record<
        string,
        unknown
      >;
      expect(await subject.client.post(rest)).toBeError(400, field);
    });

    it.each(NOT_TEXT)('takes a string as name, not %j', async (name) => {
      expect(await subject.client.post({ name, categoryId: 1 })).toBeError(400, 'name');
    });

    it.each(NOT_AN_INTEGER)('takes an integer as categoryId, not %j', async (categoryId) => {
      expect(await subject.client.post({ name: 'Ada', categoryId })).toBeError(400, 'categoryId');
    });

    it.each([1, 0, -1, 42])('takes %d as categoryId: no category record restricts it', async (categoryId) => {
      expect((await subject.client.create({ categoryId })).categoryId).toBe(categoryId);
    });

    it('does without a status', async () => {
      expect(await subject.client.post({ name: 'Ada', categoryId: 1 })).toHaveStatus(201);
    });
  });

  describe('docs/interface.md#petstatus', () => {
    it.each(STATUSES)('has the value %s', async (status) => {
      const { client } = subject;
      const animal = await client.create({ status });
      expect(animal.status).toBe(status);
      expect(await client.list(`?status=${status}&cursor=${animal.id - 1}&limit=1`)).toEqual([animal]);
    });

    it.each(NO_STATUS)('has no other value in a body, such as %j', async (status) => {
      expect(await subject.client.post({ name: 'Ada', categoryId: 1, status })).toBeError(400, 'status');
    });

    it.each(['', 'Available', 'AVAILABLE', 'reserved', '%20sold', 'sold,pending', '%00'])(
      'has no other value in a query, such as "%s"',
      async (status) => {
        expect(await subject.client.get(`/v1/pets?status=${status}`)).toBeError(400, 'status');
      },
    );
  });

  describe('docs/interface.md#pets', () => {
    it('is a bare JSON array of animals', async () => {
      const { client } = subject;
      await client.create({});
      const pets = (await client.get('/v1/pets')).json();
      expect(Array.isArray(pets)).toBe(true);
    });
  });

  describe('docs/interface.md#error', () => {
    it.each([
      [400, 'GET', '/v1/pets?limit=0'],
      [401, 'GET', '/v1/pets'],
      [404, 'GET', NO_ANIMAL],
    ] as const)('is code, message and the status %d', async (status, method, target) => {
      const response = await subject.client.send(
        method,
        target,
        status === 401 ? { authorization: null } : {},
      );
      expect(response).toHaveStatus(status);
      expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
      const error = response.error();
      expect(error).toEqual({ code: expect.any(String), message: expect.any(String), status });
    });
  });

  describe('docs/interface.md#add-an-animal', () => {
    it('answers 201 with the created animal, the assigned id included', async () => {
      const response = await subject.client.post({ name: 'Ada', categoryId: 7, status: 'available' });
      expect(response).toHaveStatus(201);
      expect(response.json()).toEqual({
        id: expect.any(Number),
        name: 'Ada',
        categoryId: 7,
        status: 'available',
      });
    });

    it('answers 400 to missing and invalid values alike, and names every one of them', async () => {
      const { client } = subject;
      expect(await client.post({})).toBeError(400, 'name', 'categoryId');
      expect(await client.post({ name: 1, categoryId: 'x', status: 'y' })).toBeError(
        400,
        'name',
        'categoryId',
        'status',
      );
    });
  });

  describe('docs/interface.md#get-an-animal-deprecated', () => {
    it('answers 200 with the animal', async () => {
      const { client } = subject;
      const animal = await client.create({ name: 'Ada', categoryId: 7, status: 'sold' });
      const response = await client.get(`/v1/pets/${animal.id}`);
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual(animal);
    });

    it('answers 404 where there is no such animal', async () => {
      expect(await subject.client.get(NO_ANIMAL)).toBeError(404);
    });
  });

  describe('docs/interface.md#authentication', () => {
    it.each([
      ['GET', '/v1/pets', undefined],
      ['POST', '/v1/pets', { name: 'Ada', categoryId: 1 }],
      ['GET', '/v1/pets/1', undefined],
    ] as const)('applies to %s %s: a missing and an invalid key are 401', async (method, target, body) => {
      const { client } = subject;
      expect(await client.send(method, target, { body, authorization: null })).toBeError(401);
      expect(await client.send(method, target, { body, authorization: 'Bearer psk_wrong' })).toBeError(401);
    });
  });
}
