import { type Animal, issueKey } from '@petstore/core';
import { mongodbUri } from '@petstore/testing/mongodb';
import { describe, expect, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { newFolder } from '../testing/newFolder.ts';
import { newStock } from '../testing/newStock.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

/** Creates a data folder with animals and a key. */
async function newStockedFolder(animals: number) {
  const folder = await newFolder();
  const { key, hash } = issueKey();
  await newStock(folder.dataDir, animals, hash);
  return { ...folder, key };
}

// What a copy contains, and one that was interrupted: packages/embedded-store/src/copy.
describe.skipIf(mongodbUri === undefined)('copy with MongoDB', () => {
  test('copy to MongoDB and back copies everything, and servers of both continue the ids', async () => {
    const { dataDir, key, serve: serveFolder } = await newStockedFolder(50);
    const { uri, command, serve } = await newDatabase();
    const create = async (origin: string) => {
      const { id } = (await (await createPet(origin, rex, { key })).json()) as Animal;
      return id;
    };
    const there = await command(['copy', '--from', dataDir, '--to', uri]);
    expect(there).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 50 animals, 1 API key') });
    const server = await serve();
    await ready(server);
    const id = await create(server.origin);
    expect(id).toBeGreaterThan(150);
    await server.stop();

    const back = `${dataDir}-2`;
    const returned = await command(['copy', '--from', uri, '--to', back]);
    expect(returned).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 51 animals') });
    const again = await serveFolder({ env: { DATA_DIR: back } });
    expect(await create(again.origin)).toBeGreaterThan(id);
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
