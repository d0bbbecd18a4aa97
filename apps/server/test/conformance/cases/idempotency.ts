import type { Animal } from '@petstore/core';
import { describe, expect, it } from 'vitest';
import type { ReceivedResponse, Client } from '../client.ts';
import type { Subject } from '../subject.ts';

let keyCount = 0;
const newKey = () => `key-${process.pid}-${(keyCount += 1)}`;

/** The outcome of a create with a key, in the same form for REST and tRPC. */
interface Outcome {
  readonly status: number;
  readonly animal: Animal | undefined;
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly replayed: string | undefined;
}
type Create = (client: Client, key: string | undefined, pet?: object) => Promise<Outcome>;

const pet = { name: 'Ada', categoryId: 3 };
const keyHeader = (key: string | undefined) => ({
  headers: key === undefined ? [] : ([['Idempotency-Key', key]] as const),
});

const overRest: Create = async (client, key, body = pet) => {
  const response = await client.post(body, keyHeader(key));
  const isCreated = response.status === 201;
  return {
    status: response.status,
    animal: isCreated ? response.animal() : undefined,
    code: isCreated ? undefined : response.error().code,
    message: isCreated ? undefined : response.error().message,
    replayed: response.header('idempotent-replayed'),
  };
};

const overRpc: Create = async (client, key, body = pet) => {
  const received = await client.send('POST', '/trpc/createPet', { ...keyHeader(key), body });
  return { ...envelope(received), replayed: received.header('idempotent-replayed') };
};

function envelope(response: ReceivedResponse) {
  const {
    result,
    error,
  }: { result?: { data: Animal }; error?: { message: string; data: { code: string } } } = JSON.parse(
    response.body.toString(),
  );
  return { status: response.status, animal: result?.data, code: error?.data.code, message: error?.message };
}

/** Declares the cases about `Idempotency-Key`: docs/decisions.md#repeated-creates. */
export function idempotencyCases(subject: Subject): void {
  describe.each<[protocol: string, create: Create, success: number]>([
    ['REST', overRest, 201],
    ['a single tRPC call', overRpc, 200],
  ])('docs/decisions.md#repeated-creates, over %s', (protocol, create, success) => {
    it(`a repeated create over ${protocol} returns the same animal with Idempotent-Replayed`, async () => {
      const { client } = subject;
      const key = newKey();
      const first = await create(client, key);
      expect(first).toMatchObject({ status: success, replayed: undefined });
      const again = await create(client, key);
      expect(again).toEqual({ ...first, replayed: 'true' });
    });

    it(`20 concurrent creates with one key over ${protocol} create one animal`, async () => {
      const { client } = subject;
      const key = newKey();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => create(client, key)));
      expect(new Set(outcomes.map(({ animal }) => animal?.id)).size).toBe(1);
      expect(outcomes.filter(({ replayed }) => replayed === undefined)).toHaveLength(1);
    });

    it(`a create over ${protocol} rejects a key that was used with another input with 422`, async () => {
      const { client } = subject;
      const key = newKey();
      const first = await create(client, key);
      const other = await create(client, key, { ...pet, status: 'sold' });
      expect(other).toMatchObject({
        status: 422,
        code: 'UNPROCESSABLE_CONTENT',
        message: expect.stringContaining('Idempotency-Key'),
      });
      expect(await create(client, key)).toEqual({ ...first, replayed: 'true' });
    });

    it(`a create over ${protocol} replays for a body that differs only in key order and unknown fields`, async () => {
      const { client } = subject;
      const key = newKey();
      const first = await create(client, key, { name: 'Ada', categoryId: 3 });
      expect(await create(client, key, { id: 9, categoryId: 3, name: 'Ada', x: 1 })).toEqual({
        ...first,
        replayed: 'true',
      });
    });

    it(`a create over ${protocol} accepts a key again after a 400`, async () => {
      const { client } = subject;
      const key = newKey();
      expect(await create(client, key, { name: 'Ada' })).toMatchObject({ status: 400 });
      expect(await create(client, key)).toMatchObject({ status: success, replayed: undefined });
    });

    it.each(['!', '~'.repeat(255), '"a\\"b\\\\"', '8e03978e-40d5-43dd-bc93-6894a57f9324', 'a,b;c=d'])(
      `a create over ${protocol} accepts the key %j`,
      async (key) => {
        expect(await create(subject.client, key)).toMatchObject({ status: success });
      },
    );

    it(`every create over ${protocol} without a key creates another animal`, async () => {
      const { client } = subject;
      const [one, other] = [await create(client, undefined), await create(client, undefined)];
      expect(one.animal?.id).not.toBe(other.animal?.id);
      expect(other.replayed).toBeUndefined();
    });
  });

  describe('docs/decisions.md#repeated-creates', () => {
    it('a create over tRPC replays a create over REST with the same key', async () => {
      const { client } = subject;
      const key = newKey();
      const { animal } = await overRest(client, key);
      expect(await overRpc(client, key)).toMatchObject({ status: 200, animal, replayed: 'true' });
    });

    it('POST /pets rejects two Idempotency-Key headers with 400', async () => {
      const response = await subject.client.post(pet, {
        headers: [
          ['Idempotency-Key', 'a'],
          ['Idempotency-Key', 'a'],
        ],
      });
      expect(response).toBeError(400, 'Idempotency-Key');
    });

    it('a tRPC batch with a key answers 400 and creates nothing', async () => {
      const { client } = subject;
      const before = await client.create({});
      const response = await client.send('POST', '/trpc/createPet,createPet?batch=1', {
        ...keyHeader(newKey()),
        body: { 0: pet, 1: pet },
      });
      expect(response).toHaveStatus(400);
      expect(await client.list(`?cursor=${before.id}`)).toEqual([]);
    });

    it('listPets ignores an invalid Idempotency-Key over REST and tRPC', async () => {
      const { client } = subject;
      for (const target of [
        '/v1/pets',
        '/trpc/listPets',
        '/trpc/listPets,listPets?batch=1&input=%7B%220%22%3A%7B%7D%2C%221%22%3A%7B%7D%7D',
      ]) {
        expect(await client.get(target, keyHeader('not a key'))).toHaveStatus(200);
      }
    });
  });
}
