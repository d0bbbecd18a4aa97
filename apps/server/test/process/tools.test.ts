import { providerProblems } from 'trpc-gateway-test';
import { expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const server = sharedServer({ env: { API_KEY: apiKey } });

/** Sends a message of 2025-11-25, whose head has no copies of its members. */
async function send(method: string, params: object, key = apiKey) {
  const response = await fetch(`${server.origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
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
      readonly isError?: boolean;
    };
  };
  return { status: response.status, challenge: response.headers.get('www-authenticate'), ...message };
}

test('the three operations are tools, each with a description and a schema that every model accepts', async () => {
  const { result } = await send('tools/list', {});
  expect(result.tools?.map(({ name }) => name)).toEqual(['listPets', 'createPet', 'getPet']);
  expect(result.tools?.every(({ description }) => description !== undefined)).toBe(true);
  expect(result.tools?.flatMap((tool) => providerProblems(tool))).toEqual([]);
});

test('an animal that a tool adds is found by the others', async () => {
  const pet = { name: 'Rex', categoryId: 1, status: 'available' };
  const created = await send('tools/call', { name: 'createPet', arguments: pet });
  const animal = created.result.structuredContent as { readonly id: number };
  expect(animal).toEqual({ id: animal.id, ...pet });
  const got = await send('tools/call', { name: 'getPet', arguments: { petId: animal.id } });
  expect(got.result.structuredContent).toEqual(animal);
  const listed = await send('tools/call', { name: 'listPets', arguments: { cursor: animal.id - 1 } });
  expect(JSON.parse(listed.result.content[0].text)).toEqual([animal]);
});

test('an animal that does not exist, and an invalid one, are errors of the call', async () => {
  const missing = await send('tools/call', { name: 'getPet', arguments: { petId: 999_999 } });
  expect(missing.result.isError).toBe(true);
  expect(JSON.parse(missing.result.content[0].text)).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  const invalid = await send('tools/call', { name: 'createPet', arguments: { name: 'Rex' } });
  expect(JSON.parse(invalid.result.content[0].text)).toEqual({
    code: 'BAD_REQUEST',
    message: 'categoryId: is required.',
    status: 400,
  });
});

test('without a valid key a message is 401, with a challenge', async () => {
  const { challenge, status } = await send('initialize', {}, 'psk_wrong');
  expect([status, challenge]).toEqual([401, 'Bearer realm="petstore", error="invalid_token"']);
});
