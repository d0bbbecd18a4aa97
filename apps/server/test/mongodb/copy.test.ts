import { issueKey } from '@petstore/core';
import { mongodbUri } from '@petstore/testing/mongodb';
import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { newFolder } from '../testing/newFolder.ts';
import { newStock } from '../testing/newStock.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { someAnimals } from '../testing/someAnimals.ts';
import { createPet, listPets, rex } from '../testing/petCalls.ts';

/** Creates a data folder with animals and a key. */
async function newStockedFolder(animals: number) {
  const folder = await newFolder();
  const { key, hash } = issueKey();
  await newStock(folder.dataDir, animals, hash);
  return { ...folder, key };
}

// A copy that was interrupted: packages/embedded-store/src/copy.
describe.skipIf(mongodbUri === undefined)('copy with MongoDB', () => {
  test('copy to MongoDB and back keeps everything unchanged and continues the ids', async () => {
    const { dataDir, key, serve: serveFolder } = await newStockedFolder(2_000);
    const { uri, command, serve } = await newDatabase();
    const there = await command(['copy', '--from', dataDir, '--to', uri]);
    const stdout: unknown = expect.stringContaining('Copied 2,000 animals, 1 API key');
    expect(there).toMatchObject({ code: 0, stdout });

    const server = await serve();
    await ready(server);
    const create = async (origin: string): Promise<unknown> => (await createPet(origin, rex, { key })).json();
    const created = await create(server.origin);
    expect(created).toEqual({ id: expect.any(Number), name: 'Rex', categoryId: 1 });
    const { id } = created as { id: number };
    expect(id).toBeGreaterThan(2_100);
    await server.stop();
    expect(server.stderr()).toBe('');

    const back = `${dataDir}-2`;
    const returned = await command(['copy', '--from', uri, '--to', back]);
    expect(returned).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 2,001 animals') });
    const again = await serveFolder({ env: { DATA_DIR: back } });
    expect(again.stderr()).toBe('');
    const listed = await listPets(again.origin, { key, query: '?limit=100' });
    expect(await listed.json()).toEqual(someAnimals(100));
    const next = (await create(again.origin)) as { id: number };
    expect(next.id).toBeGreaterThan(id);
  });

  test('copy from a missing database fails with a one-line message and creates none', async () => {
    const { uri, database, command } = await newDatabase();
    const { dataDir } = await newFolder();
    const { code, stdout, stderr } = await command(['copy', '--from', uri, '--to', dataDir]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^There is no store in the database [^\n]+\.\n$/);
    const client = new MongoClient(uri);
    onTestFinished(() => client.close());
    expect(await client.db(database).listCollections().toArray()).toEqual([]);
  });

  test('copy to an unreachable database fails with a one-line message without the URI', async () => {
    const { dataDir, command } = await newStockedFolder(5);
    const { code, stdout, stderr } = await command(
      ['copy', '--from', dataDir, '--to', 'mongodb://anna:secret@127.0.0.1:1'],
      { env: { MONGODB_TIMEOUT_MS: '500' } },
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\.\n$/);
    expect(stderr).not.toMatch(/secret|anna/);
  });
});
