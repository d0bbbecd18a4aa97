import { connectTools } from '@petstore/testing/connectTools';
import { providerProblems } from '@petstore/testing/providerProblems';
import { expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const server = sharedServer({ env: { API_KEY: apiKey } });

const connect = () =>
  connectTools(server.origin, {
    headers: { authorization: `Bearer ${apiKey}` },
    revision: '2026-07-28',
  });

test('the three operations are tools, each with a description and a schema that every model accepts', async () => {
  const agent = await connect();
  const { tools } = await agent.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['listPets', 'createPet', 'getPet']);
  expect(tools.every(({ description }) => description !== undefined)).toBe(true);
  expect(tools.flatMap((tool) => providerProblems(tool))).toEqual([]);
  // What the interface does not show, an agent cannot find out.
  expect(tools[1]?.description).toContain('No tool says what a categoryId means: ask the person');
  expect(agent.getInstructions()).toContain('There is no search');
});

test('createPet that an agent repeats with its key adds the animal once, which the other tools return', async () => {
  const agent = await connect();
  const call = (name: string, args: object) => agent.callTool({ name, arguments: { ...args } });
  const pet = { name: 'Rex', categoryId: 1, status: 'available' };
  const idempotencyKey = crypto.randomUUID();
  await call('createPet', { ...pet, idempotencyKey });
  const repeat = await call('createPet', { ...pet, idempotencyKey });
  expect(repeat._meta).toMatchObject({ 'io.github.trpc-gateway/replayed': true });
  const animal = repeat.structuredContent as { readonly id: number };
  expect(animal).toEqual({ id: animal.id, ...pet });
  expect((await call('getPet', { petId: animal.id })).structuredContent).toEqual(animal);
  const listed = await call('listPets', { limit: 100 });
  expect(listed.content).toEqual([{ type: 'text', text: JSON.stringify([animal]) }]);
});
