import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { providerProblems } from 'trpc-gateway-test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

let shelter: Awaited<ReturnType<typeof newShelter>>;
beforeAll(async () => {
  shelter = await newShelter('embedded');
});
afterAll(() => shelter.close());

interface Result {
  readonly tools?: readonly { readonly name: string; readonly annotations: object }[];
  readonly content: readonly [{ readonly type: string; readonly text: string; readonly mimeType?: string }];
  readonly structuredContent?: { readonly id: number };
  readonly isError?: boolean;
}

async function send(method: string, params: object, headers = shelter.headers) {
  const response = await fetch(`${shelter.origin}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result } = (await response.json()) as { readonly result?: Result };
  return { status: response.status, challenge: response.headers.get('www-authenticate'), result };
}

const call = async (name: string, args: object) => {
  const { result } = await send('tools/call', { name, arguments: args });
  if (result === undefined) throw new Error(`${name} returned no result.`);
  return result;
};

test('an agent of the staff adds an animal and sees its photo, and it is adopted once', async () => {
  await shelter.client.createCategory.mutate({ name: 'Dogs' });
  const { structuredContent } = await call('createAnimal', { name: 'Rex', categoryId: 1 });
  const animalId = structuredContent?.id ?? 0;
  const form = new FormData();
  form.append('photo', new File([new Uint8Array([255, 216, 255])], 'rex.jpg', { type: 'image/jpeg' }));
  const uploaded = await fetch(`${shelter.origin}/v1/animals/${animalId}/photo`, {
    method: 'PUT',
    headers: shelter.headers,
    body: form,
  });
  expect(uploaded.status).toBe(204);
  const { content } = await call('getPhoto', { animalId });
  expect(content).toEqual([{ type: 'image', mimeType: 'image/jpeg', data: '/9j/' }]);

  expect((await call('adoptAnimal', { animalId, adopter: 'Ada' })).isError).toBeUndefined();
  const again = await call('adoptAnimal', { animalId, adopter: 'Bob' });
  expect(again.isError).toBe(true);
  expect(JSON.parse(again.content[0].text)).toEqual({
    code: 'NOT_AVAILABLE',
    message: 'The animal is reserved or adopted.',
    status: 409,
    data: { status: 'adopted' },
  });
  const audits = await shelter.client.listAudits.query({ limit: 100 });
  const adoptions = audits.filter(({ procedure }) => procedure === 'adoptAnimal');
  expect(adoptions.map(({ outcome }) => outcome)).toEqual(['OK', 'CONFLICT']);
});

test('an agent sees the tools that the scopes of its token allow, and gets 403 for another', async () => {
  const names = async (scopes: string) => {
    const headers = { authorization: `Bearer ${await shelter.token('ada', scopes)}` };
    const { result } = await send('tools/list', {}, headers);
    return result?.tools?.map(({ name }) => name);
  };
  const open = ['listAnimals', 'findAnimals', 'getAnimal', 'listCategories', 'getPhoto', 'onAnimalChange'];
  expect((await names('audits:read'))?.toSorted()).toEqual(open.toSorted());
  expect((await names('animals:write adoptions:write'))?.toSorted()).toEqual(
    [...open, 'createAnimal', 'adoptAnimal'].toSorted(),
  );
  const headers = { authorization: `Bearer ${await shelter.token('ada', 'adoptions:write')}` };
  const pet = { name: 'Rex', categoryId: 1 };
  const { challenge, status } = await send('tools/call', { name: 'createAnimal', arguments: pet }, headers);
  expect(status).toBe(403);
  expect(challenge).toContain('error="insufficient_scope", scope="animals:write"');
});

/** Connects the official client. */
async function connect() {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const requestInit = { headers: shelter.headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${shelter.origin}/mcp`), { requestInit }));
  return client;
}

test('the official client receives the instructions, and tools that every model accepts', async () => {
  const client = await connect();
  expect(client.getInstructions()).toContain('Read listCategories before createAnimal.');
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(5);
  expect(tools.flatMap((tool) => providerProblems(tool))).toEqual([]);
  await client.close();
});
