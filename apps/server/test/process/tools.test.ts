import { providerProblems } from 'trpc-gateway-test';
import { expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const server = sharedServer({ env: { API_KEY: apiKey } });

/** Sends a message of 2025-11-25, whose head has no copies of its members. */
async function send(method: string, params: object) {
  const response = await fetch(`${server.origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const message = (await response.json()) as {
    readonly result: {
      readonly tools?: readonly {
        readonly name: string;
        readonly description?: string;
        readonly inputSchema: Readonly<Record<string, unknown>>;
      }[];
      readonly content: readonly [{ readonly text: string }];
      readonly structuredContent?: unknown;
    };
  };
  return message.result;
}

test('the three operations are tools, each with a description and a schema that every model accepts', async () => {
  const { tools } = await send('tools/list', {});
  expect(tools?.map(({ name }) => name)).toEqual(['listPets', 'createPet', 'getPet']);
  expect(tools?.every(({ description }) => description !== undefined)).toBe(true);
  expect(tools?.flatMap((tool) => providerProblems(tool))).toEqual([]);
});

test('an animal that a tool adds is found by the others', async () => {
  const pet = { name: 'Rex', categoryId: 1, status: 'available' };
  const created = await send('tools/call', { name: 'createPet', arguments: pet });
  const animal = created.structuredContent as { readonly id: number };
  expect(animal).toEqual({ id: animal.id, ...pet });
  const got = await send('tools/call', { name: 'getPet', arguments: { petId: animal.id } });
  expect(got.structuredContent).toEqual(animal);
  const listed = await send('tools/call', { name: 'listPets', arguments: { cursor: animal.id - 1 } });
  expect(JSON.parse(listed.content[0].text)).toEqual([animal]);
});
