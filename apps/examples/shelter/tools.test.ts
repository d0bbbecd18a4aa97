import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { providerProblems } from 'trpc-gateway-test';
import { expect, onTestFinished, test } from 'vitest';
import { sharedShelter } from './testing/newShelter.ts';

const shelter = sharedShelter();

/** Connects an agent with these headers. */
async function connect(headers: Readonly<Record<string, string>> = shelter.headers) {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const url = new URL(`${shelter.origin}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

test('an agent of the staff adds an animal and sees its photo, and it is adopted once', async () => {
  const agent = await connect();
  const call = (name: string, args: object) => agent.callTool({ name, arguments: { ...args } });
  const { structuredContent } = await call('createAnimal', { name: 'Rex', categoryId: 1 });
  const { id: animalId } = structuredContent as { readonly id: number };
  const body = new FormData();
  const setPhoto = async (bytes: Uint8Array<ArrayBuffer>) => {
    const { headers, origin } = shelter;
    body.set('photo', new File([bytes], 'rex.jpg', { type: 'image/jpeg' }));
    await fetch(`${origin}/v1/animals/${animalId}/photo`, { method: 'PUT', headers, body });
    return call('getPhoto', { animalId });
  };
  const { content } = await setPhoto(new Uint8Array([255, 216, 255]));
  expect(content).toEqual([{ type: 'image', mimeType: 'image/jpeg', data: '/9j/' }]);
  // In Base64, it is larger than what the APIs of models accept.
  expect(await setPhoto(new Uint8Array(4 * 2 ** 20))).toMatchObject({ isError: true });

  expect((await call('adoptAnimal', { animalId, adopter: 'Ada' })).isError).toBeUndefined();
  const again = await call('adoptAnimal', { animalId, adopter: 'Bob' });
  expect([again.isError, again.content]).toMatchObject([
    true,
    [{ text: expect.stringContaining('"data":{"status":"adopted"}') }],
  ]);
  const audits = await shelter.client.listAudits.query({ limit: 100 });
  const adoptions = audits.filter(({ procedure }) => procedure === 'adoptAnimal');
  expect(adoptions).toMatchObject([
    { protocol: 'mcp', outcome: 'OK' },
    { protocol: 'mcp', outcome: 'CONFLICT' },
  ]);
});

test('an agent receives the instructions, and the tools that the scopes of its token allow, which every model accepts', async () => {
  const toolsWith = async (scopes: string) => {
    const agent = await connect({ authorization: `Bearer ${await shelter.token('ada', scopes)}` });
    expect(agent.getInstructions()).toContain('Read listCategories before createAnimal.');
    const { tools } = await agent.listTools();
    expect(tools.flatMap((tool) => providerProblems(tool))).toEqual([]);
    return tools.map(({ name }) => name).toSorted();
  };
  const open = ['findAnimals', 'getAnimal', 'getPhoto', 'listAnimals', 'listCategories', 'onAnimalChange'];
  expect(await toolsWith('audits:read')).toEqual(open);
  const staff = [...open, 'adoptAnimal', 'createAnimal'].toSorted();
  expect(await toolsWith('animals:write adoptions:write')).toEqual(staff);
});
