import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

const NAMES: readonly (readonly [what: string, name: string])[] = [
  ['U+0000', '\0'],
  ['a decomposed letter, which stays decomposed', 'e\u0301'],
  ['a byte order mark and noncharacters', '\ufeffRex\uffff\u{10ffff}'],
  ['1,000 emoji, which are 2,000 UTF-16 code units', '🐶'.repeat(1_000)],
];

const TOO_LONG: readonly (readonly [what: string, name: string])[] = [
  ['1,001 letters', 'a'.repeat(1_001)],
  ['999 emoji and two letters', `${'🐶'.repeat(999)}ab`],
];

/** Declares the cases about the fields of an animal: docs/decisions.md#http-behaviour-of-the-pet-store. */
export function animalCases(subject: Subject): void {
  it('docs/decisions.md#status-when-omitted: an animal created without a status has none, and no filter finds it', async () => {
    const { client } = subject;
    const created = await client.create({ name: 'Ada', categoryId: 1 });
    const expected = { id: created.id, name: 'Ada', categoryId: 1 };
    expect(created).toStrictEqual(expected);
    expect((await client.get(`/v1/pets/${created.id}`)).json()).toStrictEqual(expected);
    expect(await client.list(`?cursor=${created.id - 1}&limit=1`)).toStrictEqual([expected]);
    for (const status of ['available', 'pending', 'sold']) {
      const [found] = await client.list(`?status=${status}&cursor=${created.id - 1}&limit=1`);
      expect(found).not.toEqual(expected);
    }
  });

  describe('docs/decisions.md#unknown-fields', () => {
    it.each([
      ['fields in another case', '"Status":"sold","NAME":5'],
      ['__proto__', '"__proto__":{"status":"sold"}'],
      ['an id', '"id":-77'],
    ])('POST /pets ignores unknown members of the body: %s', async (_what, member) => {
      const { client } = subject;
      const { id: before } = await client.create({});
      const response = await client.post(`{${member},"name":"Ada","categoryId":1}`);
      expect(response.json()).toStrictEqual({ id: expect.any(Number), name: 'Ada', categoryId: 1 });
      expect(response.animal().id).toBeGreaterThan(before);
    });
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

    it.each(['\\ud800', 'a\\udc00', '\\ud83dx\\udc36'])(
      'POST /pets rejects a lone surrogate in a name with 400: "%s"',
      async (escaped) => {
        expect(await subject.client.post(`{"name":"${escaped}","categoryId":1}`)).toBeError(400, 'name');
      },
    );

    it('POST /pets rejects a body that is not UTF-8 with 400', async () => {
      const body = Buffer.from('{"name":"é","categoryId":1}', 'latin1');
      expect(await subject.client.post(body)).toBeError(400);
    });
  });
}
