import { connectTools } from '@petstore/testing/connectTools';
import { providerProblems } from '@petstore/testing/providerProblems';
import { expect, test } from 'vitest';
import { sharedShelter } from './testing/newShelter.ts';

const shelter = sharedShelter();

const connect = (headers = shelter.headers, revision?: '2026-07-28') =>
  connectTools(shelter.origin, { headers, revision });

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
});

test('the audit log shows that an agent wrote, which one and on whose behalf, or that a person did by which client', async () => {
  const token = await shelter.token('grace', 'animals:write', 'https://agent.example/client.json');
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'agent-http/3' };
  const added = { name: 'Tom', categoryId: 2 };
  const call = { name: 'createAnimal', arguments: added };
  await (await connect(headers)).callTool(call);
  await (await connect(headers, '2026-07-28')).callTool(call);
  await shelter.rest('POST', '/animals', added, { 'user-agent': 'Shelter app/7' });
  const audits = await shelter.client.listAudits.query({ limit: 100 });
  const oauthClient = 'https://agent.example/client.json';
  const agent = { user: 'grace', protocol: 'mcp', tool: 'createAnimal', oauthClient, outcome: 'OK' };
  const person = { user: 'ada', protocol: 'rest', client: 'Shelter app/7', oauthClient: 'development' };
  // Before 2026-07-28, a call does not have the name of the agent.
  const agents = [
    { ...agent, client: 'agent-http/3' },
    { ...agent, client: 'agent 1.0.0' },
  ];
  expect(audits.slice(-3)).toMatchObject([...agents, person]);
  expect(audits.at(-1)?.tool).toBeUndefined();
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
