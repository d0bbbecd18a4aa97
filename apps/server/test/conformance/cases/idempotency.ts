import type { Animal } from '@petstore/core';
import { describe, expect, it } from 'vitest';
import type { Client } from '../client.ts';
import type { Subject } from '../subject.ts';

let keyCount = 0;
const newKey = () => `key-${process.pid}-${(keyCount += 1)}`;

const pet = { name: 'Ada', categoryId: 3 };
const keyHeader = (key: string) => ({ headers: [['Idempotency-Key', key]] as const });

interface Body extends Partial<Animal> {
  readonly code?: string;
  readonly result?: { readonly data: Animal };
  readonly error?: { readonly data: { readonly code: string } };
}

/** Creates with a key, and returns the outcome in the same form for REST and tRPC. */
const createAt =
  (target: string) =>
  async (client: Client, key: string, body: object = pet) => {
    const response = await client.send('POST', target, { ...keyHeader(key), body });
    const { code, error, result, ...rest } = JSON.parse(response.body.toString()) as Body;
    return {
      status: response.status,
      id: result?.data.id ?? rest.id,
      code: error?.data.code ?? code,
      replayed: response.header('idempotent-replayed'),
    };
  };
const overRest = createAt('/v1/pets');
const overRpc = createAt('/trpc/createPet');

/** Declares the cases about `Idempotency-Key`: docs/decisions.md#repeated-creates. Its forms are those of packages/gateway/test. */
export function idempotencyCases(subject: Subject): void {
  describe.each([
    ['REST', overRest, 201],
    ['tRPC', overRpc, 200],
  ])('docs/decisions.md#repeated-creates, over %s', (protocol, create, success) => {
    it(`20 concurrent creates with one key over ${protocol} create one animal, which a repeat with other unknown fields returns, and another input gets 422`, async () => {
      const { client } = subject;
      const key = newKey();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => create(client, key)));
      const [first] = outcomes;
      expect(first?.status).toBe(success);
      expect(new Set(outcomes.map(({ id }) => id)).size).toBe(1);
      expect(outcomes.filter(({ replayed }) => replayed === undefined)).toHaveLength(1);
      const repeated = await create(client, key, { x: 1, id: 9, categoryId: 3, name: 'Ada' });
      expect(repeated).toEqual({ ...first, replayed: 'true' });
      expect(await create(client, key, { ...pet, status: 'sold' })).toMatchObject({
        status: 422,
        code: 'UNPROCESSABLE_CONTENT',
      });
    });
  });

  it('a create over tRPC replays a create over REST with the same key', async () => {
    const { client } = subject;
    const key = newKey();
    const { id } = await overRest(client, key);
    expect(await overRpc(client, key)).toMatchObject({ status: 200, id, replayed: 'true' });
  });

  it('listPets ignores an invalid Idempotency-Key', async () => {
    for (const target of ['/v1/pets', '/trpc/listPets']) {
      expect(await subject.client.get(target, keyHeader('not a key'))).toHaveStatus(200);
    }
  });
}
