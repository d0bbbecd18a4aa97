import { afterAll, beforeAll, expect, test } from 'vitest';
import { newShelter, stores } from './testing/newShelter.ts';

interface Result {
  readonly structuredContent?: { readonly id: number };
  readonly isError?: boolean;
  readonly _meta?: object;
}

for (const store of stores) {
  let shelter: Awaited<ReturnType<typeof newShelter>>;
  beforeAll(async () => {
    shelter = await newShelter(store);
  });
  afterAll(() => shelter.close());

  /** Calls a tool with a new token of the user. */
  async function call(origin: string, name: string, args: object): Promise<Result> {
    const token = await shelter.token('ada', 'animals:write adoptions:write');
    const response = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    });
    return ((await response.json()) as { readonly result: Result }).result;
  }

  test(`${store}: an adoption that an agent repeats with its key, after a restart and with a new token, is the first one`, async () => {
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
    const create = { name: 'Rex', categoryId: 1, idempotencyKey: crypto.randomUUID() };
    const animalId = (await call(shelter.origin, 'createAnimal', create)).structuredContent?.id;
    const adoption = { animalId, adopter: 'Ada', idempotencyKey: crypto.randomUUID() };
    const first = await call(shelter.origin, 'adoptAnimal', adoption);
    expect(first.structuredContent).toMatchObject({ animalId, adopter: 'Ada' });

    const origin = await shelter.restart();
    const _meta = { 'io.github.trpc-gateway/replayed': true };
    expect(await call(origin, 'adoptAnimal', adoption)).toEqual({ ...first, _meta });
    expect(await call(origin, 'createAnimal', create)).toMatchObject({
      structuredContent: { id: animalId },
      _meta,
    });
    // Without the key it is another adoption.
    expect((await call(origin, 'adoptAnimal', { animalId, adopter: 'Ada' })).isError).toBe(true);
  });
}
