import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const notIntegers = ['1.5', '5.0', '1e1', '%205', '%2B5', '0x5', '%D9%A5', 'abc', '5%'];

/** Declares the cases about integers: no value is rounded or coerced. */
export function integerCases(subject: Subject): void {
  describe('docs/decisions.md#int64', () => {
    it.each([
      ['-0', 0],
      ['5.0', 5],
      ['50e-1', 5],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ])('POST /pets accepts categoryId %s: a safe integer', async (literal, value) => {
      const { client } = subject;
      const response = await client.post(`{"name":"Ada","categoryId":${literal}}`);
      // The text, not the number: -0 and 5.0 would compare equal.
      expect(response.body.toString()).toMatch(new RegExp(`"categoryId":${value}[,}]`));
      expect((await client.get(`/v1/pets/${response.animal().id}`)).animal().categoryId).toBe(value);
    });

    it.each(['9007199254740992', '-9007199254740993', '1e400', '5.0000000000000000001'])(
      'POST /pets rejects categoryId %s with 400 and never rounds it',
      async (literal) => {
        const response = await subject.client.post(`{"name":"Ada","categoryId":${literal}}`);
        expect(response).toBeError(400, 'categoryId');
      },
    );

    it.each(['9007199254740992', '-9223372036854775808', '0009223372036854775807', '-0'])(
      'GET /pets/%s answers 404: a valid int64 that no animal has',
      async (petId) => {
        expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(404);
      },
    );

    it.each(['9223372036854775808', '-9223372036854775809', '9'.repeat(400)])(
      'GET /pets/%s answers 400: outside int64',
      async (petId) => {
        expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(400, 'petId');
      },
    );

    it('getPet over tRPC answers 400 to a petId beyond ±(2^53−1)', async () => {
      const { status } = await subject.client.get('/trpc/getPet?input={"petId":9007199254740992}');
      expect(status).toBe(400);
    });
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

    it('tRPC rejects strings', async () => {
      const { client } = subject;
      expect((await client.get('/trpc/getPet?input={"petId":"1"}')).status).toBe(400);
      expect((await client.get('/trpc/listPets?input={"limit":"5"}')).status).toBe(400);
    });
  });
}
