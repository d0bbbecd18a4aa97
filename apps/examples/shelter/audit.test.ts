import { createTRPCClient, createWSClient, httpBatchLink, wsLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newShelter, stores } from './testing/newShelter.ts';
import type { ShelterRouter } from './router.ts';

describe.each(stores)('audits on the %s store', (store) => {
  let shelter: Awaited<ReturnType<typeof newShelter>>;
  beforeAll(async () => {
    shelter = await newShelter(store);
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
  });
  afterAll(() => shelter.close());

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

  test('each attempt of a change is stored with its user and status before the response arrives, over REST and tRPC', async () => {
    const { id: animalId } = await newAnimal();
    const path = `/animals/${animalId}/adoption`;
    const headers = await headersOf('adoptions:write');
    const attempt = { user: 'grace', procedures: ['adoptAnimal'] };
    const adopt = () => shelter.rest('POST', path, { adopter: 'Alan' }, headers);
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, status: 201 }]);
    expect(await auditsOf(adopt)).toMatchObject([{ ...attempt, status: 409 }]);
    expect(await auditsOf(() => shelter.rest('POST', path, {}, headers))).toMatchObject([
      { ...attempt, status: 400 },
    ]);
    expect(await auditsOf(newAnimal)).toMatchObject([
      { user: 'ada', procedures: ['createAnimal'], status: 200, requestId: expect.stringMatching(/./) },
    ]);
  });

  test('a change without the scope is stored with 403, and one without a valid token is not stored', async () => {
    const headers = await headersOf('adoptions:read');
    const add = (other: Readonly<Record<string, string>>) => () =>
      shelter.rest('POST', '/categories', { name: 'Cats' }, other);
    expect(await auditsOf(add(headers))).toMatchObject([{ user: 'grace', status: 403 }]);
    expect(await auditsOf(add({ authorization: 'Bearer a.b.c' }))).toEqual([]);
  });

  test('queries are not stored', async () => {
    expect(await auditsOf(() => shelter.client.listAdoptions.query({}))).toEqual([]);
  });

  test('a batch is stored with all its procedures, and changes on a WebSocket one by one', async () => {
    const url = `${shelter.origin}/trpc`;
    const { headers } = shelter;
    const batching = createTRPCClient<ShelterRouter>({ links: [httpBatchLink({ url, headers })] });
    const two = (client: typeof batching) => () =>
      Promise.allSettled([
        client.createAnimal.mutate({ name: 'Rex', categoryId: 1 }),
        client.createAnimal.mutate({ name: 'Rex', categoryId: 1_000_000 }),
      ]);
    const procedures = ['createAnimal'];
    expect(await auditsOf(two(batching))).toMatchObject([
      { procedures: [...procedures, ...procedures], status: 207 },
    ]);
    const socket = createWSClient({ url: url.replace('http', 'ws'), connectionParams: headers });
    onTestFinished(() => socket.close());
    const overSocket = createTRPCClient<ShelterRouter>({ links: [wsLink({ client: socket })] });
    const stored = await auditsOf(two(overSocket));
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(
      expect.arrayContaining([200, 409].map((status) => expect.objectContaining({ procedures, status }))),
    );
  });
});
