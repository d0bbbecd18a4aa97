import { connectTools } from 'trpc-gateway-test';
import { expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const server = sharedServer({ env: { API_KEY: apiKey } });

test('an agent that lost the reply to createPet repeats it with its key, and the animal was added once', async () => {
  let losesReply = true;
  const client = await connectTools(server.origin, async (url, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${apiKey}`);
    const response = await fetch(url, { ...init, headers });
    if (!losesReply || headers.get('mcp-name') !== 'createPet') return response;
    losesReply = false;
    await response.arrayBuffer();
    throw new TypeError('The connection was closed before the response.');
  });

  const pet = { name: 'Twice', categoryId: 1 };
  const idempotencyKey = crypto.randomUUID();
  const create = (args: object) => client.callTool({ name: 'createPet', arguments: { ...args } });
  await expect(create({ ...pet, idempotencyKey })).rejects.toThrow(
    'The connection was closed before the response.',
  );
  // A model writes the arguments anew.
  const repeat = await create({ idempotencyKey, categoryId: 1, name: 'Twice' });
  expect(repeat._meta).toMatchObject({ 'io.github.trpc-gateway/replayed': true });
  const { id } = repeat.structuredContent as { readonly id: number };
  expect(repeat.structuredContent).toEqual({ id, ...pet });
  const listed = await client.callTool({ name: 'listPets', arguments: { limit: 100 } });
  const texts = listed.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const animals = JSON.parse(texts.join('')) as readonly { readonly name: string }[];
  expect(animals.filter(({ name }) => name === pet.name)).toEqual([{ id, ...pet }]);
  await client.close();
});
