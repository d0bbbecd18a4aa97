import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const NAMES: readonly (readonly [what: string, name: string])[] = [
  ['an empty string', ''],
  ['a space', ' '],
  ['U+0000', '\0'],
  ['U+0000 between letters', 'a\0b'],
  ['control characters', '\u0001\u001f\u007f\u0085'],
  ['line separators', 'a\r\nb\u2028c\u2029'],
  ['an emoji', '🐶'],
  ['a family of joined emoji', '👩‍👩‍👧‍👦'],
  ['a decomposed letter, which stays decomposed', 'e\u0301'],
  ['right-to-left text', 'كلب'],
  ['a byte order mark', '\ufeffRex'],
  ['noncharacters', '\uffff\u{10ffff}'],
  ['quotes and backslashes', '"\\"\\\\u0041'],
  ['markup', '</script><!--'],
  ['__proto__', '__proto__'],
  ['a large integer as text', '9007199254740993'],
  ['1,000 characters, the maximum', 'é'.repeat(1_000)],
  ['1,000 emoji, which are 2,000 UTF-16 code units', '🐶'.repeat(1_000)],
];

const TOO_LONG: readonly (readonly [what: string, name: string])[] = [
  ['1,001 letters', 'a'.repeat(1_001)],
  ['1,001 emoji', '🐶'.repeat(1_001)],
  ['999 emoji and two letters', `${'🐶'.repeat(999)}ab`],
  ['1,001 NULs', '\0'.repeat(1_001)],
  ['100,000 letters', 'é'.repeat(100_000)],
];

/** Declares the cases about the fields of an animal: docs/decisions.md#http-behaviour-of-the-pet-store. */
export function animalCases(subject: Subject): void {
  describe('docs/decisions.md#status-when-omitted', () => {
    it('POST /pets, GET /pets/{petId} and GET /pets omit the status of an animal created without one', async () => {
      const { client } = subject;
      const created = await client.create({ name: 'Ada', categoryId: 1 });
      const expected = { id: created.id, name: 'Ada', categoryId: 1 };
      expect(created).toStrictEqual(expected);
      expect((await client.get(`/v1/pets/${created.id}`)).json()).toStrictEqual(expected);
      expect(await client.list(`?cursor=${created.id - 1}&limit=1`)).toStrictEqual([expected]);
    });

    it.each(['available', 'pending', 'sold'])(
      'GET /pets?status=%s omits an animal without a status',
      async (status) => {
        const { client } = subject;
        const { id } = await client.create({});
        const animals = await client.list(`?status=${status}&cursor=${id - 1}&limit=1`);
        expect(animals.map((animal) => animal.id)).not.toContain(id);
      },
    );
  });

  describe('docs/decisions.md#unknown-fields', () => {
    it.each([
      ['an unknown field', '{"name":"Ada","categoryId":1,"notAField":"red"}'],
      ['fields in another case', '{"name":"Ada","categoryId":1,"Status":"sold","NAME":5}'],
      ['an unknown field with a fraction', '{"name":"Ada","categoryId":1,"notAFraction":0.1}'],
      [
        'an unknown field with an unsafe integer',
        '{"name":"Ada","categoryId":1,"notASafeInteger":9007199254740993}',
      ],
      ['__proto__', '{"name":"Ada","categoryId":1,"__proto__":{"status":"sold"}}'],
      ['constructor', '{"name":"Ada","categoryId":1,"constructor":{"prototype":{"status":"sold"}}}'],
    ])('POST /pets ignores %s in the body', async (_what, body) => {
      const response = await subject.client.post(body);
      expect(response).toHaveStatus(201);
      expect(response.json()).toStrictEqual({ id: expect.any(Number), name: 'Ada', categoryId: 1 });
    });

    it.each(['-77', '"x"', 'null', '9007199254740993'])(
      'POST /pets ignores "id": %s and assigns a new id',
      async (id) => {
        const { client } = subject;
        const { id: before } = await client.create({});
        const animal = (await client.post(`{"id":${id},"name":"Ada","categoryId":1}`)).animal();
        expect(animal.id).toBeGreaterThan(before);
      },
    );
  });

  describe('docs/decisions.md#name', () => {
    it.each(NAMES)('POST /pets keeps a name unchanged: %s', async (_what, name) => {
      const { client } = subject;
      const created = await client.create({ name });
      expect(created.name).toBe(name);
      expect((await client.get(`/v1/pets/${created.id}`)).animal().name).toBe(name);
      expect(await client.list(`?cursor=${created.id - 1}&limit=1`)).toEqual([created]);
    });

    it.each(TOO_LONG)('POST /pets rejects a name of %s with 400', async (_what, name) => {
      const received = await subject.client.post({ name, categoryId: 1 });
      expect(received).toBeError(400, 'name', 'at most 1000 characters');
    });

    it.each(['\\ud800', '\\udc00', 'a\\ud83d', '\\udc36\\ud83d', '\\ud83dx\\udc36'])(
      'POST /pets rejects a lone surrogate in a name with 400: "%s"',
      async (escaped) => {
        expect(await subject.client.post(`{"name":"${escaped}","categoryId":1}`)).toBeError(400, 'name');
      },
    );

    it('POST /pets decodes an escaped surrogate pair in a name to one character', async () => {
      const animal = (await subject.client.post('{"name":"\\ud83d\\udc36","categoryId":1}')).animal();
      expect(animal.name).toBe('🐶');
    });

    it.each([
      ['a lone continuation byte', [0x80]],
      ['a truncated sequence', [0xf0, 0x9f, 0x90]],
      ['an overlong form', [0xc0, 0xaf]],
      ['a surrogate', [0xed, 0xa0, 0x80]],
      ['Latin-1', [0xe9]],
    ])('POST /pets rejects a body that is not UTF-8 with 400: %s', async (_what, bytes) => {
      const body = Buffer.concat([
        Buffer.from('{"name":"'),
        Buffer.from(bytes),
        Buffer.from('","categoryId":1}'),
      ]);
      expect(await subject.client.post(body)).toBeError(400);
    });
  });
}
