import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newShelter } from './testing/newShelter.ts';
import type { ShelterRouter } from './router.ts';

let shelter: Awaited<ReturnType<typeof newShelter>>;
beforeAll(async () => {
  shelter = await newShelter('embedded');
  await shelter.client.createCategory.mutate({ name: 'Dogs' });
});
afterAll(() => shelter.close());

const rex = { name: 'Rex', categoryId: 1 };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('visitors without a token read animals and categories, over REST and tRPC', async () => {
  const animal = await shelter.client.createAnimal.mutate(rex);
  const visitor = createTRPCClient<ShelterRouter>({ links: [httpLink({ url: `${shelter.origin}/trpc` })] });
  expect(await visitor.getAnimal.query({ animalId: animal.id })).toEqual(animal);
  for (const path of ['/animals', `/animals/${animal.id}`, '/categories', '/categories/1']) {
    expect((await fetch(`${shelter.origin}/v1${path}`)).status).toBe(200);
  }
});

test.for([
  ['POST', '/animals'],
  ['DELETE', '/animals/1'],
  ['POST', '/categories'],
  ['PUT', '/animals/1/photo'],
  ['POST', '/animals/1/adoption'],
  ['GET', '/adoptions'],
  ['GET', '/adoptions/events'],
])('%s %s without a token gets 401 with a challenge', async ([method = '', path]) => {
  const response = await fetch(`${shelter.origin}/v1${path}`, { method });
  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toMatch(/^Bearer /);
});

test('a token without the scope of a procedure gets 403, which names the scope', async () => {
  const token = await shelter.token('ada', 'adoptions:read adoptions:write');
  const response = await fetch(`${shelter.origin}/v1/animals`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify(rex),
  });
  expect(response.status).toBe(403);
  expect(response.headers.get('www-authenticate')).toContain('scope="animals:write"');
  const client = createTRPCClient<ShelterRouter>({
    links: [httpLink({ url: `${shelter.origin}/trpc`, headers: bearer(token) })],
  });
  const error: unknown = await client.createAnimal.mutate(rex).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(TRPCClientError);
  expect(error).toMatchObject({ data: { code: 'FORBIDDEN' } });
});

test('a user who renews the token keeps its idempotency keys, and another user has its own', async () => {
  const create = async (user: string, name: string) => {
    const headers = { ...bearer(await shelter.token(user, 'animals:write')), 'idempotency-key': 'renewed' };
    return shelter.rest('POST', '/categories', { name }, headers);
  };
  const first = await create('grace', 'Cats');
  expect(first).toMatchObject({ status: 201, isReplayed: false });
  expect(await create('grace', 'Cats')).toEqual({ ...first, isReplayed: true });
  expect(await create('ada', 'Birds')).toMatchObject({ status: 201, isReplayed: false });
});

test('a user who makes more calls than callsPerMinute gets 429, with a renewed token too, and visitors are served', async () => {
  const limited = await newShelter('embedded', { callsPerMinute: 12 });
  onTestFinished(() => limited.close());
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
