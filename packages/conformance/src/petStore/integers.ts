import { describe, expect, it } from 'vitest';
import type { Subject } from './subject.ts';

const NOT_STRICT_INTEGERS: readonly (readonly [what: string, text: string])[] = [
  ['no digits', ''],
  ['a fraction', '1.5'],
  ['a fraction of zero', '5.0'],
  ['an exponent', '1e1'],
  ['a space before', '%205'],
  ['a space after', '5%20'],
  ['a tab', '%095'],
  ['a line feed', '5%0A'],
  ['a trailing plus, which forms decode to a space', '5+'],
  ['an encoded plus', '%2B5'],
  ['a leading plus, which forms decode to a space', '+5'],
  ['hexadecimal', '0x5'],
  ['octal', '0o5'],
  ['a suffix', '5n'],
  ['a separator', '1_0'],
  ['a comma', '1,0'],
  ['quotes', '%225%22'],
  ['digits of another script', '%D9%A5'],
  ['a full-width digit', '%EF%BC%95'],
  ['a minus alone', '-'],
  ['two minuses', '--5'],
  ['U+2212 as the minus sign', '%E2%88%925'],
  ['U+0000', '5%00'],
  ['letters', 'abc'],
  ['NaN', 'NaN'],
  ['Infinity', 'Infinity'],
  ['true', 'true'],
  ['null', 'null'],
  ['an array', '[5]'],
];

const bodyWith = (field: string, value: unknown) => ({ name: 'Ada', categoryId: 1, [field]: value });

/** Declares the cases about integers (docs/decisions.md#int64): no value is rounded or coerced. */
export function integerCases(subject: Subject): void {
  describe('docs/decisions.md#int64', () => {
    it.each([
      ['5', 5],
      ['-5', -5],
      ['0', 0],
      ['-0', 0],
      ['5.0', 5],
      ['5e0', 5],
      ['0.5E+1', 5],
      ['50e-1', 5],
      ['5.00000000000000000000000000', 5],
      ['1e15', 1e15],
      ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ['-9007199254740991', Number.MIN_SAFE_INTEGER],
      ['9007199254740991.0', Number.MAX_SAFE_INTEGER],
      ['0.9007199254740991e16', Number.MAX_SAFE_INTEGER],
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
      '-9007199254740992',
      '9007199254740993',
      '-9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '9223372036854775808',
      '1e19',
      '1e400',
      '-1e400',
      '5.5',
      '0.1',
      '1e-1',
      '1e-400',
      '5.0000000000000000001',
      '4.9999999999999999999',
      '9007199254740991.4',
      '-9007199254740991.4',
      '9007199254740990.5000000001',
      '0.00000000000000000000000000000001',
    ])('POST /pets rejects categoryId %s with 400 and never rounds it', async (literal) => {
      expect(await subject.client.post(`{"name":"Ada","categoryId":${literal}}`)).toBeError(
        400,
        'categoryId',
      );
    });

    it('POST /pets rejects an inexact categoryId with 400 at any position in the body', async () => {
      const { client } = subject;
      expect(await client.post('{"categoryId":9007199254740991.4,"name":"Ada"}')).toBeError(
        400,
        'categoryId',
      );
      expect(await client.post('{"name":"5.0","categoryId" :\n5.0000000000000000001 }')).toBeError(
        400,
        'categoryId',
      );
    });

    it('POST /pets accepts the digits of an inexact number in a name', async () => {
      expect((await subject.client.create({ name: '5.0000000000000000001' })).name).toBe(
        '5.0000000000000000001',
      );
    });

    it.each([
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '-9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
      '0009223372036854775807',
      '0',
      '-0',
      '-1',
    ])('GET /pets/%s answers 404: a valid int64 that no animal has', async (petId) => {
      expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(404);
    });

    it.each([
      '9223372036854775808',
      '-9223372036854775809',
      '99999999999999999999999999999999999999',
      `1${'0'.repeat(400)}`,
    ])('GET /pets/%s answers 400: outside int64', async (petId) => {
      expect(await subject.client.get(`/v1/pets/${petId}`)).toBeError(400, 'petId');
    });
  });

  describe('docs/decisions.md#no-coercion', () => {
    const invalidFields: readonly (readonly [field: string, value: unknown])[] = [
      ['categoryId', '5'],
      ['categoryId', 5.5],
      ['categoryId', true],
      ['categoryId', null],
      ['categoryId', ''],
      ['categoryId', []],
      ['categoryId', Number.MAX_SAFE_INTEGER + 1],
      ['name', 5],
      ['name', true],
      ['name', null],
      ['status', 'Sold'],
      ['status', null],
      ['status', 0],
      ['status', ''],
    ];

    it.each(invalidFields)('POST /pets rejects %s: %j with 400', async (field, value) => {
      expect(await subject.client.post(bodyWith(field, value))).toBeError(400, field);
    });

    it.each(invalidFields)('createPet over tRPC rejects %s: %j with BAD_REQUEST', async (field, value) => {
      const received = await subject.client.send('POST', '/trpc/createPet', { body: bodyWith(field, value) });
      expect(received).toHaveStatus(400);
      expect(received.json()).toMatchObject({ error: { data: { code: 'BAD_REQUEST' } } });
    });

    it.each([
      ['listPets', { limit: '5' }],
      ['listPets', { limit: true }],
      ['listPets', { limit: null }],
      ['listPets', { cursor: '0' }],
      ['getPet', { petId: '1' }],
      ['getPet', { petId: true }],
    ])('%s over tRPC rejects the input %j with BAD_REQUEST', async (procedure, input) => {
      const query = encodeURIComponent(JSON.stringify(input));
      const response = await subject.client.get(`/trpc/${procedure}?input=${query}`);
      expect(response).toHaveStatus(400);
      expect(response.json()).toMatchObject({ error: { data: { code: 'BAD_REQUEST' } } });
    });

    it('createPet, listPets and getPet reject non-integers before and after calls over REST', async () => {
      const client = await subject.start();
      const invalidStatuses = async () => [
        (await client.post({ name: 'Ada', categoryId: '5' })).status,
        (await client.post({ name: 'Ada', categoryId: null })).status,
        (await client.post({ name: 'Ada', categoryId: true })).status,
        (await client.send('POST', '/trpc/createPet', { body: { name: 'Ada', categoryId: '5' } })).status,
        (await client.send('POST', '/trpc/createPet', { body: { name: 'Ada', categoryId: null } })).status,
        (await client.get(`/trpc/listPets?input=${encodeURIComponent('{"limit":"5"}')}`)).status,
        (await client.get(`/trpc/getPet?input=${encodeURIComponent('{"petId":"1"}')}`)).status,
      ];
      const all400 = Array.from({ length: 7 }, () => 400);
      expect(await invalidStatuses()).toEqual(all400);
      // REST converts strings here; that must not affect later calls.
      const { id } = await client.create({});
      expect(await client.get(`/v1/pets/${id}`)).toHaveStatus(200);
      expect(await client.get('/v1/pets?limit=5&cursor=0&status=sold')).toHaveStatus(200);
      expect(await client.get(`/trpc/getPet?input=${encodeURIComponent(`{"petId":${id}}`)}`)).toHaveStatus(
        200,
      );
      await client.get('/openapi.json', { authorization: null });
      expect(await invalidStatuses()).toEqual(all400);
    });
  });

  describe('docs/decisions.md#no-coercion: path and query strings are converted strictly', () => {
    it.each(NOT_STRICT_INTEGERS)('GET /pets rejects a limit with 400: %s, "%s"', async (_what, text) => {
      expect(await subject.client.get(`/v1/pets?limit=${text}`)).toBeError(400, 'limit');
    });

    it.each(NOT_STRICT_INTEGERS)('GET /pets rejects a cursor with 400: %s, "%s"', async (_what, text) => {
      expect(await subject.client.get(`/v1/pets?cursor=${text}`)).toBeError(400, 'cursor');
    });

    it.each(NOT_STRICT_INTEGERS.filter(([, text]) => text !== ''))(
      'GET /pets/{petId} rejects a petId with 400: %s, "%s"',
      async (_what, text) => {
        expect(await subject.client.get(`/v1/pets/${text}`)).toBeError(400, 'petId');
      },
    );

    it('GET /pets rejects limit without a value with 400', async () => {
      expect(await subject.client.get('/v1/pets?limit')).toBeError(400, 'limit');
    });

    it.each(['%zz', '5%', '%5', '%ff'])(
      'GET /pets/{petId} rejects a malformed escape with 400: "%s"',
      async (text) => {
        expect(await subject.client.get(`/v1/pets/${text}`)).toBeError(400, 'petId');
      },
    );

    it('petId, limit and cursor accept leading zeros', async () => {
      const { client } = subject;
      const { id } = await client.create({});
      expect((await client.get(`/v1/pets/000${id}`)).animal().id).toBe(id);
      expect(await client.list(`?limit=01&cursor=${id - 1}`)).toHaveLength(1);
      expect(await client.list(`?limit=1&cursor=-00`)).toHaveLength(1);
    });

    it('petId and limit accept percent-encoded digits', async () => {
      const { client } = subject;
      const { id } = await client.create({});
      const encoded = String(id).replace(/\d/g, (digit) => `%3${digit}`);
      expect((await client.get(`/v1/pets/${encoded}`)).animal().id).toBe(id);
      expect(await client.list(`?limit=%31&cursor=${id - 1}`)).toHaveLength(1);
    });
  });
}
