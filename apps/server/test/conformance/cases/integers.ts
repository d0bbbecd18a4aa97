import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const NOT_STRICT_INTEGERS: readonly (readonly [what: string, text: string])[] = [
  ['a fraction', '1.5'],
  ['a fraction of zero', '5.0'],
  ['an exponent', '1e1'],
  ['a space before', '%205'],
  ['an encoded plus', '%2B5'],
  ['hexadecimal', '0x5'],
  ['digits of another script', '%D9%A5'],
  ['letters', 'abc'],
  ['a malformed escape', '5%'],
];

/** Declares the cases about integers (docs/decisions.md#int64): no value is rounded or coerced. */
export function integerCases(subject: Subject): void {
  describe('docs/decisions.md#int64', () => {
    it.each([
      ['-5', -5],
      ['-0', 0],
      ['5.0', 5],
      ['50e-1', 5],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['-9007199254740991', Number.MIN_SAFE_INTEGER],
    ])('POST /pets accepts categoryId %s: a safe integer', async (literal, value) => {
      const { client } = subject;
      const response = await client.post(`{"name":"Ada","categoryId":${literal}}`);
      expect(response).toHaveStatus(201);
      const animal = response.animal();
      // The text, not the number: -0 and 5.0 would compare equal.
      expect(response.body.toString()).toMatch(new RegExp(`"categoryId":${value}[,}]`));
      expect((await client.get(`/v1/pets/${animal.id}`)).animal().categoryId).toBe(value);
    });

    it.each([
      '9007199254740992',
      '-9007199254740993',
      '9223372036854775807',
      '1e400',
      '5.5',
      '5.0000000000000000001',
      '9007199254740991.4',
    ])('POST /pets rejects categoryId %s with 400 and never rounds it', async (literal) => {
      expect(await subject.client.post(`{"name":"Ada","categoryId":${literal}}`)).toBeError(
        400,
        'categoryId',
      );
    });

    it.each([
      '9007199254740993',
      '-9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '0009223372036854775807',
      '-0',
    ])('GET /pets/%s answers 404: a valid int64 that no animal has', async (petId) => {
      expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(404);
    });

    it.each(['9223372036854775808', '-9223372036854775809', '9'.repeat(400)])(
      'GET /pets/%s answers 400: outside int64',
      async (petId) => {
        expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(400, 'petId');
      },
    );
  });

  describe('docs/decisions.md#no-coercion: path and query strings are converted strictly', () => {
    it('tRPC rejects strings after calls over REST have converted them', async () => {
      const client = await subject.start();
      const { id } = await client.create({});
      expect(await client.get(`/v1/pets/${id}?`)).toHaveStatus(200);
      expect(await client.get('/v1/pets?limit=5')).toHaveStatus(200);
      const input = encodeURIComponent(`{"petId":"${id}"}`);
      expect((await client.get(`/trpc/getPet?input=${input}`)).status).toBe(400);
      expect((await client.get('/trpc/listPets?input=%7B%22limit%22%3A%225%22%7D')).status).toBe(400);
    });

    it.each(NOT_STRICT_INTEGERS)('GET /pets rejects a limit with 400: %s, "%s"', async (_what, text) => {
      expect(await subject.client.get(`/v1/pets?limit=${text}`)).toBeError(400, 'limit');
    });

    it.each(NOT_STRICT_INTEGERS)('GET /pets rejects a cursor with 400: %s, "%s"', async (_what, text) => {
      expect(await subject.client.get(`/v1/pets?cursor=${text}`)).toBeError(400, 'cursor');
    });

    it.each(NOT_STRICT_INTEGERS)(
      'GET /pets/{petId} rejects a petId with 400: %s, "%s"',
      async (_what, text) => {
        expect(await subject.client.get(`/v1/pets/${text}`)).toBeError(400, 'petId');
      },
    );

    it('GET /pets rejects limit without a value with 400', async () => {
      expect(await subject.client.get('/v1/pets?limit')).toBeError(400, 'limit');
    });

    it('petId, limit and cursor accept leading zeros', async () => {
      const { client } = subject;
      const { id } = await client.create({});
      expect((await client.get(`/v1/pets/000${id}`)).animal().id).toBe(id);
      expect(await client.list(`?limit=01&cursor=${id - 1}`)).toHaveLength(1);
      expect(await client.list(`?limit=1&cursor=-00`)).toHaveLength(1);
    });
  });
}
