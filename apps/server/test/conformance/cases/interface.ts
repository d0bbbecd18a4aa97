import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const NON_STRINGS = [5, true, null, [], {}] as const;
const NON_INTEGERS = [5.5, '5', '', 'abc', true, null, [], [5], {}] as const;
const INVALID_STATUSES = [
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
const UNKNOWN_ANIMAL = '/v1/pets/9007199254740991';

/**
 * Declares the cases about each line of docs/interface.md#pet-store-service-interface, except lists (`pages.ts`) and the
 * document (`document.ts`).
 */
export function interfaceCases(subject: Subject): void {
  describe('docs/interface.md#what-the-service-does', () => {
    it('the service creates an animal, lists it and returns it by its id', async () => {
      const { client } = subject;
      const animal = await client.create({ name: 'Ada', categoryId: 3, status: 'pending' });
      expect(await client.list(`?cursor=${animal.id - 1}&limit=1`)).toEqual([animal]);
      expect((await client.get(`/v1/pets/${animal.id}`)).json()).toEqual(animal);
    });

    it('GET and POST /pets answer in application/json', async () => {
      const { client } = subject;
      const responses = [await client.get('/v1/pets'), await client.post({ name: 'Ada', categoryId: 1 })];
      for (const response of responses)
        expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
    });

    it('the service answers 404 to paths outside /v1', async () => {
      expect(await subject.client.get('/pets', { authorization: null })).toBeError(404);
      expect(await subject.client.get('/v2/pets')).toBeError(404);
    });
  });

  describe('docs/interface.md#animal-pet', () => {
    it('an Animal has the fields of NewPet and an integer id assigned by the service', async () => {
      const received = await subject.client.post({ name: 'Ada', categoryId: 3, status: 'sold' });
      const animal = received.animal();
      expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'sold' });
      expect(Number.isSafeInteger(animal.id)).toBe(true);
    });

    it('POST /pets assigns 20 different ids to 20 concurrent, identical requests', async () => {
      const { client } = subject;
      const animals = await Promise.all(Array.from({ length: 20 }, () => client.create({})));
      expect(new Set(animals.map(({ id }) => id)).size).toBe(20);
    });
  });

  describe('docs/interface.md#newpet-request-body-for-creation', () => {
    it.each(['name', 'categoryId'])('POST /pets without %s answers 400', async (field) => {
      const { [field]: _omitted, ...rest } = { name: 'Ada', categoryId: 1, status: 'sold' } as Record<
        string,
        unknown
      >;
      expect(await subject.client.post(rest)).toBeError(400, field);
    });

    it.each(NON_STRINGS.map((value) => [value]))('POST /pets rejects the name %j with 400', async (name) => {
      expect(await subject.client.post({ name, categoryId: 1 })).toBeError(400, 'name');
    });

    it.each(NON_INTEGERS.map((value) => [value]))(
      'POST /pets rejects the categoryId %j with 400',
      async (categoryId) => {
        expect(await subject.client.post({ name: 'Ada', categoryId })).toBeError(400, 'categoryId');
      },
    );

    it.each([1, 0, -1, 42])(
      'POST /pets accepts categoryId %d without a record of that category',
      async (categoryId) => {
        expect((await subject.client.create({ categoryId })).categoryId).toBe(categoryId);
      },
    );

    it('POST /pets accepts an animal without a status', async () => {
      expect(await subject.client.post({ name: 'Ada', categoryId: 1 })).toHaveStatus(201);
    });
  });

  describe('docs/interface.md#petstatus', () => {
    it.each(STATUSES)('POST /pets accepts the status %s, and GET /pets filters by it', async (status) => {
      const { client } = subject;
      const animal = await client.create({ status });
      expect(animal.status).toBe(status);
      expect(await client.list(`?status=${status}&cursor=${animal.id - 1}&limit=1`)).toEqual([animal]);
    });

    it.each(INVALID_STATUSES.map((value) => [value]))(
      'POST /pets rejects the status %j with 400',
      async (status) => {
        expect(await subject.client.post({ name: 'Ada', categoryId: 1, status })).toBeError(400, 'status');
      },
    );

    it.each(['', 'Available', 'AVAILABLE', 'reserved', '%20sold', 'sold,pending', '%00'])(
      'GET /pets?status=%s answers 400',
      async (status) => {
        expect(await subject.client.get(`/v1/pets?status=${status}`)).toBeError(400, 'status');
      },
    );
  });

  describe('docs/interface.md#pets', () => {
    it('GET /pets returns a bare JSON array', async () => {
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
      [404, 'GET', UNKNOWN_ANIMAL],
    ] as const)('the body of a %d is code, message and status: %s %s', async (status, method, target) => {
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
    it('POST /pets answers 201 with the created animal and its assigned id', async () => {
      const response = await subject.client.post({ name: 'Ada', categoryId: 7, status: 'available' });
      expect(response).toHaveStatus(201);
      expect(response.json()).toEqual({
        id: expect.any(Number),
        name: 'Ada',
        categoryId: 7,
        status: 'available',
      });
    });

    it('POST /pets answers 400 to missing and invalid values, and names each field', async () => {
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
    it('GET /pets/{petId} answers 200 with the animal', async () => {
      const { client } = subject;
      const animal = await client.create({ name: 'Ada', categoryId: 7, status: 'sold' });
      const response = await client.get(`/v1/pets/${animal.id}`);
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual(animal);
    });

    it('GET /pets/{petId} answers 404 to an unknown id', async () => {
      expect(await subject.client.get(UNKNOWN_ANIMAL)).toBeError(404);
    });
  });

  describe('docs/interface.md#authentication', () => {
    it.each([
      ['GET', '/v1/pets', undefined],
      ['POST', '/v1/pets', { name: 'Ada', categoryId: 1 }],
      ['GET', '/v1/pets/1', undefined],
    ] as const)('%s %s answers 401 to a missing or an invalid key', async (method, target, body) => {
      const { client } = subject;
      expect(await client.send(method, target, { body, authorization: null })).toBeError(401);
      expect(await client.send(method, target, { body, authorization: 'Bearer psk_wrong' })).toBeError(401);
    });
  });
}
