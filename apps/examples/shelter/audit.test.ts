import type { Store } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { auditPolicy } from './audit.ts';
import { sharedShelter, stores } from './testing/newShelter.ts';

describe.each(stores)('audits on the %s store', (store) => {
  const shelter = sharedShelter(store);

  /** Runs `change` and returns the audits that exist as soon as its response has arrived. */
  async function auditsOf(change: () => Promise<unknown>) {
    const before = await shelter.client.listAudits.query({ limit: 100 });
    await change();
    return shelter.client.listAudits.query({ limit: 100, cursor: before.at(-1)?.id });
  }
  const newAnimal = () => shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
  const headersOf = async (scope: string) => ({
    authorization: `Bearer ${await shelter.token('grace', scope)}`,
  });

  test('each attempt of a change is stored with its user and outcome before the response arrives, over REST and tRPC', async () => {
    const { id: animalId } = await newAnimal();
    const path = `/animals/${animalId}/adoption`;
    const headers = await headersOf('adoptions:write');
    const attempt = { user: 'grace', protocol: 'rest', procedure: 'adoptAnimal', isReplay: false };
    const adopt = () => shelter.rest('POST', path, { adopter: 'Alan' }, headers);
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, outcome: 'OK' }]);
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, outcome: 'CONFLICT' }]);
    expect(await auditsOf(() => shelter.rest('POST', path, {}, headers))).toMatchObject([
      { ...attempt, outcome: 'BAD_REQUEST' },
    ]);
    const created = { user: 'ada', protocol: 'trpc', procedure: 'createAnimal', outcome: 'OK' };
    const reason = 'entered twice';
    const remove = () => shelter.rest('DELETE', `/animals/${animalId}`, undefined, { 'x-reason': reason });
    expect(await auditsOf(remove)).toMatchObject([{ procedure: 'deleteAnimal', outcome: 'OK', reason }]);
    expect(await auditsOf(newAnimal)).toMatchObject([{ ...created, requestId: expect.stringMatching(/./) }]);
  });

  test('a repeat of a change with the same idempotency key is stored as a repeat', async () => {
    const { id: animalId } = await newAnimal();
    const path = `/animals/${animalId}/adoption`;
    const adopt = () => shelter.rest('POST', path, { adopter: 'Alan' }, { 'idempotency-key': 'again' });
    const attempt = { procedure: 'adoptAnimal', outcome: 'OK' };
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, isReplay: false }]);
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, isReplay: true }]);
  });

  test('a change without the scope is stored as forbidden, and one without a valid token and a query are not', async () => {
    const headers = await headersOf('adoptions:read');
    const add = (other: Readonly<Record<string, string>>) => () =>
      shelter.rest('POST', '/categories', { name: 'Birds' }, other);
    expect(await auditsOf(add(headers))).toMatchObject([{ user: 'grace', outcome: 'FORBIDDEN' }]);
    expect(await auditsOf(add({ authorization: 'Bearer a.b.c' }))).toEqual([]);
    expect(await auditsOf(() => shelter.client.listAdoptions.query({}))).toEqual([]);
  });
});

test('an audit that cannot be stored fails the call, which is then answered with 500', async () => {
  const create = () => Promise.reject(new Error('no space left'));
  const { settled } = auditPolicy({ collection: () => ({ create }) } as unknown as Store);
  const outcome = { code: 'OK', procedure: { type: 'mutation', path: 'createCategory' } };
  const context = { identity: { sub: 'ada' }, outcomes: [outcome], request: { header() {} }, via: {} };
  await expect(settled?.(context as never)).rejects.toThrow('no space left');
});
