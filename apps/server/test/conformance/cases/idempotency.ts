import type { Animal } from '@petstore/core';
import { expect, it } from 'vitest';
import { animalOf, type Client, type Subject } from '../subject.ts';

let keyCount = 0;
const newKey = () => `key-${process.pid}-${(keyCount += 1)}`;

const pet = { name: 'Ada', categoryId: 3 };
const keyHeader = (key: string) => ({ headers: { 'idempotency-key': key } });

/** Declares the cases about `Idempotency-Key`: docs/decisions.md#repeated-creates. Its forms are those of packages/gateway/test. */
export function idempotencyCases(subject: Subject): void {
  const create = (client: Client, key: string, body: object = pet) => client.post(body, keyHeader(key));

  it('docs/decisions.md#repeated-creates: 20 concurrent creates with one key create one animal, which a repeat with other unknown fields returns, and another input gets 422', async () => {
    const { client } = subject;
    const key = newKey();
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(client, key)));
    const [animal] = responses.map((response) => animalOf(response));
    for (const response of responses) {
      expect(response).toHaveStatus(201);
      expect(animalOf(response)).toEqual(animal);
    }
    const replayed = responses.map((response) => response.header('idempotent-replayed'));
    expect(replayed.filter((each) => each === undefined)).toHaveLength(1);
    const repeated = await create(client, key, { x: 1, id: 9, categoryId: 3, name: 'Ada' });
    expect(repeated.header('idempotent-replayed')).toBe('true');
    expect(animalOf(repeated)).toEqual(animal);
    expect(await create(client, key, { ...pet, status: 'sold' })).toBeError(422);
  });

  it('a create over tRPC replays a create over REST with the same key', async () => {
    const { client } = subject;
    const key = newKey();
    const animal = animalOf(await create(client, key));
    const repeated = await client.send('POST', '/trpc/createPet', { ...keyHeader(key), body: pet });
    const { result } = repeated.json() as { readonly result: { readonly data: Animal } };
    expect([repeated.status, repeated.header('idempotent-replayed'), result.data]).toEqual([
      200,
      'true',
      animal,
    ]);
  });

  it('listPets ignores an invalid Idempotency-Key', async () => {
    expect(await subject.client.get('/v1/pets', keyHeader('not a key'))).toHaveStatus(200);
  });
}
