import { createTRPCClient, httpLink } from '@trpc/client';
import { expect, test } from 'vitest';
import { newShelter, sharedShelter } from './testing/newShelter.ts';
import type { ShelterRouter } from './router.ts';

const shelter = sharedShelter();

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('visitors without a token read animals and categories, over REST and tRPC', async () => {
  const animal = await shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
  const visitor = createTRPCClient<ShelterRouter>({ links: [httpLink({ url: `${shelter.origin}/trpc` })] });
  expect(await visitor.getAnimal.query({ animalId: animal.id })).toEqual(animal);
  for (const path of ['/animals', `/animals/${animal.id}`, '/categories', '/categories/1']) {
    expect((await fetch(`${shelter.origin}/v1${path}`)).status).toBe(200);
  }
});

test.for(['POST /animals', 'PUT /animals/1/photo', 'GET /adoptions', 'GET /adoptions/events'])(
  '%s without a token gets 401 with a challenge',
  async (operation) => {
    const [method = '', path] = operation.split(' ');
    const response = await fetch(`${shelter.origin}/v1${path}`, { method });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
  },
);

test('a token without the scope of a procedure gets 403, which names the scope', async () => {
  const headers = bearer(await shelter.token('ada', 'animals:write'));
  for (const path of ['/adoptions', '/adoptions/events', '/audits']) {
    const response = await fetch(`${shelter.origin}/v1${path}`, { headers });
    expect([path, response.status]).toEqual([path, 403]);
    expect(response.headers.get('www-authenticate')).toMatch(/scope="(adoptions|audits):read"/);
  }
});

test('a user who renews the token keeps its idempotency keys, and another user has its own', async () => {
  const create = async (user: string, name: string) => {
    const headers = { ...bearer(await shelter.token(user, 'animals:write')), 'idempotency-key': 'renewed' };
    return shelter.rest('POST', '/categories', { name }, headers);
  };
  const first = await create('grace', 'Fish');
  expect(first).toMatchObject({ status: 201, isReplayed: false });
  expect(await create('grace', 'Fish')).toEqual({ ...first, isReplayed: true });
  expect(await create('ada', 'Birds')).toMatchObject({ status: 201, isReplayed: false });
});

test('a user who makes more calls than callsPerMinute gets 429, with a renewed token too, and visitors are served', async () => {
  const limited = await newShelter('embedded', { callsPerMinute: 12 });
  const upload = async () => {
    const headers = bearer(await limited.token('ada', 'animals:write'));
    const body = new FormData();
    body.set('photo', new File(['x'], 'rex.jpg', { type: 'image/jpeg' }));
    return fetch(`${limited.origin}/v1/animals/1/photo`, { method: 'PUT', headers, body });
  };
  expect((await upload()).status).toBe(404);
  // A photo costs as much as ten calls.
  expect((await upload()).status).toBe(429);
  expect((await fetch(`${limited.origin}/v1/animals`)).status).toBe(200);
});

test('a token of 20 KB is read, and a batch is rejected', async () => {
  const long = await fetch(`${shelter.origin}/v1/audits`, { headers: bearer('x'.repeat(20_000)) });
  expect(long.status).toBe(401);
  const batch = await fetch(`${shelter.origin}/trpc/listAnimals,listCategories?batch=1&input={}`);
  expect(batch.status).toBe(400);
});
