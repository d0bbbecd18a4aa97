import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const notIntegers = ['5.0', '%205', '%D9%A5', 'abc'];

/** Declares the cases about integers: no value is rounded or coerced. */
export function integerCases(subject: Subject): void {
  describe('docs/decisions.md#int64', () => {
    it.each([
      ['-0', 0],
      ['50e-1', 5],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ])('POST /pets accepts categoryId %s: a safe integer', async (literal, value) => {
      const { client } = subject;
      const response = await client.post(`{"name":"Ada","categoryId":${literal}}`);
      // The text, not the number: -0 and 5.0 would compare equal.
      expect(response.body.toString()).toMatch(new RegExp(`"categoryId":${value}[,}]`));
      expect((await client.get(`/v1/pets/${response.animal().id}`)).animal().categoryId).toBe(value);
    });

    it.each(['9007199254740992', '5.0000000000000000001'])(
      'POST /pets rejects categoryId %s with 400 and never rounds it',
      async (literal) => {
        const response = await subject.client.post(`{"name":"Ada","categoryId":${literal}}`);
        expect(response).toBeError(400, 'categoryId');
      },
    );

    it.each(['-9223372036854775808', '0009223372036854775807'])(
      'GET /pets/%s answers 404: a valid int64 that no animal has',
      async (petId) => {
        expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(404);
      },
    );

    it.each(['9223372036854775808', '-9223372036854775809'])(
      'GET /pets/%s answers 400: outside int64',
      async (petId) => {
        expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(400, 'petId');
      },
    );
  });

  describe('docs/decisions.md#no-coercion: path and query strings are converted strictly', () => {
    it.each(notIntegers)('limit, cursor and petId reject %s with 400', async (text) => {
      const { client } = subject;
      expect(await client.get(`/v1/pets?limit=${text}`)).toBeError(400, 'limit');
      expect(await client.get(`/v1/pets?cursor=${text}`)).toBeError(400, 'cursor');
      expect(await client.get(`/v1/pets/${text}`)).toBeError(400, 'petId');
    });

    it('petId, limit and cursor accept leading zeros', async () => {
      const { client } = subject;
      const { id } = await client.create({});
      expect((await client.get(`/v1/pets/000${id}`)).animal().id).toBe(id);
      expect(await client.list(`?limit=01&cursor=${id - 1}`)).toHaveLength(1);
    });

    it.each(['getPet?input={"petId":"1"}', 'getPet?input={"petId":9007199254740992}'])(
      'GET /trpc/%s answers 400: a string, or beyond ±(2^53−1)',
      async (call) => {
        expect((await subject.client.get(`/trpc/${call}`)).status).toBe(400);
      },
    );
  });
}
