import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { animalOf, type Subject } from '../subject.ts';

const pet = { name: 'Ada', categoryId: 1 };

/** Values that each field of a body rejects. */
const invalid = {
  name: [5, null],
  categoryId: [5.5, '5', true, null],
  status: ['', 'AVAILABLE', null],
};

const newPet = fc.record(
  {
    // Any well-formed string: fast-check's `binary` unit excludes only lone surrogates.
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })),
    categoryId: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -10, max: 10 })),
    status: fc.constantFrom('available', 'pending', 'sold'),
  },
  { requiredKeys: ['name', 'categoryId'], noNullPrototype: true },
);

/**
 * Declares the cases about animals and their fields: docs/interface.md#pet-store-service-interface and
 * docs/decisions.md#http-behaviour-of-the-pet-store, except lists (`pages.ts`).
 */
export function animalCases(subject: Subject): void {
  it('docs/interface.md#what-the-service-does: POST, its Location and the list return any valid NewPet unchanged, as JSON', async () => {
    const { client } = subject;
    await fc.assert(
      fc.asyncProperty(newPet, async (each) => {
        const created = await client.post(each);
        expect(created).toHaveStatus(201);
        const animal = animalOf(created);
        expect(animal).toStrictEqual({ id: animal.id, ...each });
        const got = await client.get(created.header('location') ?? '');
        expect(got.json()).toStrictEqual(animal);
        const filter = each.status === undefined ? '' : `&status=${each.status}`;
        const listed = await client.get(`/v1/pets?cursor=${animal.id - 1}&limit=1${filter}`);
        expect(listed.json()).toStrictEqual([animal]);
        for (const response of [created, got, listed])
          expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
      }),
      { numRuns: 200 },
    );
  });

  it.each(
    Object.entries(invalid).flatMap(([field, values]) =>
      values.map((value) => [field, JSON.stringify(value), value] as const),
    ),
  )(
    'docs/interface.md#newpet-request-body-for-creation and docs/decisions.md#no-coercion: POST /pets rejects the %s %s with 400',
    async (field, _text, value) => {
      expect(await subject.client.post({ ...pet, [field]: value })).toBeError(400, field);
    },
  );

  it('POST /pets names each missing and each invalid field in a readable message', async () => {
    const { client } = subject;
    expect(await client.post({})).toBeError(400, 'name', 'categoryId');
    const response = await client.post({ categoryId: '5', status: 'lost' });
    expect(response).toBeError(400, 'name', 'categoryId', 'status');
    expect(response.error().message).not.toMatch(/[[{]"|"code"|ZodError|invalid_type|\\n|\n/);
  });

  it('docs/decisions.md#status-when-omitted: an animal created without a status has none, and no filter finds it', async () => {
    const { client } = subject;
    const created = await client.create(pet);
    expect(created).toStrictEqual({ id: created.id, ...pet });
    for (const status of ['available', 'pending', 'sold']) {
      const [found] = await client.list(`?status=${status}&cursor=${created.id - 1}&limit=1`);
      expect(found).not.toEqual(created);
    }
  });

  it.each([
    ['fields in another case', '"Status":"sold","NAME":5'],
    ['__proto__', '"__proto__":{"status":"sold"}'],
    ['an id', '"id":-77'],
  ])(
    'docs/decisions.md#unknown-fields: POST /pets ignores unknown members of the body: %s',
    async (_what, member) => {
      const response = await subject.client.post(`{${member},"name":"Ada","categoryId":1}`);
      const { id } = animalOf(response);
      expect(response.json()).toStrictEqual({ id, ...pet });
      expect(id).toBeGreaterThan(0);
    },
  );

  describe('docs/decisions.md#name', () => {
    it('POST /pets keeps a name of 1,000 emoji, which are 2,000 UTF-16 code units', async () => {
      const name = '🐶'.repeat(1_000);
      expect(await subject.client.create({ name })).toMatchObject({ name });
    });

    it.each([
      ['1,001 letters', 'a'.repeat(1_001)],
      ['999 emoji and two letters', `${'🐶'.repeat(999)}ab`],
    ])('POST /pets rejects a name of %s with 400', async (_what, name) => {
      const received = await subject.client.post({ ...pet, name });
      expect(received).toBeError(400, 'name', 'at most 1000 characters');
    });

    it.each(['\\ud800', '\\ud83dx\\udc36'])(
      'POST /pets rejects a lone surrogate in a name with 400: "%s"',
      async (escaped) => {
        expect(await subject.client.post(`{"name":"${escaped}","categoryId":1}`)).toBeError(400, 'name');
      },
    );
  });

  describe('docs/decisions.md#int64: no integer is rounded', () => {
    it.each([
      ['-0', '0'],
      ['50e-1', '5'],
      ['9007199254740991', '9007199254740991'],
    ])('POST /pets accepts categoryId %s: a safe integer', async (literal, value) => {
      const response = await subject.client.post(`{"name":"Ada","categoryId":${literal}}`);
      // The text, not the number: -0 and 5.0 would compare equal.
      expect(response.body.toString()).toMatch(new RegExp(`"categoryId":${value}[,}]`));
    });

    it.each(['9007199254740992', '5.0000000000000000001'])(
      'POST /pets rejects categoryId %s with 400 and never rounds it',
      async (literal) => {
        const response = await subject.client.post(`{"name":"Ada","categoryId":${literal}}`);
        expect(response).toBeError(400, 'categoryId');
      },
    );

    it.each([
      ['-9223372036854775808', 404, 'a valid int64 that no animal has'],
      ['0009223372036854775807', 404, 'a valid int64 that no animal has'],
      ['9223372036854775808', 400, 'outside int64'],
      ['-9223372036854775809', 400, 'outside int64'],
      ['5.0', 400, 'not an integer'],
    ] as const)('GET /pets/%s answers %d: %s', async (petId, status, _what) => {
      const received = await subject.client.get(`/v1/pets/${petId}`);
      expect(received).toBeError(status, ...(status === 400 ? ['petId'] : []));
    });

    it.each(['{"petId":"1"}', '{"petId":9007199254740992}'])(
      'GET /trpc/getPet?input=%s answers 400: a string, or beyond ±(2^53−1)',
      async (input) => {
        expect((await subject.client.get(`/trpc/getPet?input=${input}`)).status).toBe(400);
      },
    );
  });
}
