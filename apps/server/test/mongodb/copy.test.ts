import { setTimeout as sleep } from 'node:timers/promises';
import { collections, issueKey } from '@petstore/core';
import { openEmbeddedTransfer } from '@petstore/embedded-store';
import { openMongodbTransfer } from '@petstore/core/store/mongodb';
import { mongodbUri } from '@petstore/testing/mongodb';
import { MongoClient } from 'mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { newFolder } from '../testing/newFolder.ts';
import { checksumIn, newStock } from '../testing/newStock.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { someAnimals } from '../testing/someAnimals.ts';
import { createPet, rex } from '../testing/petCalls.ts';

/** Creates a data folder with animals and a key. */
async function newStockedFolder(animals: number) {
  const folder = await newFolder();
  const { key, hash } = issueKey();
  await newStock(folder.dataDir, animals, hash);
  return { ...folder, key };
}

describe.skipIf(mongodbUri === undefined)('copy with MongoDB', () => {
  test('copy to MongoDB and back keeps everything unchanged and continues the ids', async ({ annotate }) => {
    const { dataDir, key, serve: serveFolder } = await newStockedFolder(20_000);
    const { uri, command, serve } = await newDatabase();
    const there = await command(['copy', '--from', dataDir, '--to', uri]);
    expect(there).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Copied 20,000 animals, 1 API key'),
    });
    await annotate(there.stdout);

    const server = await serve();
    await ready(server);
    const create = async (origin: string): Promise<unknown> => (await createPet(origin, rex, { key })).json();
    const created = await create(server.origin);
    expect(created).toEqual({ id: expect.any(Number), name: 'Rex', categoryId: 1 });
    const { id } = created as { id: number };
    expect(id).toBeGreaterThan(20_100);
    await server.stop();
    expect(server.stderr()).toBe('');

    const back = `${dataDir}-2`;
    const returned = await command(['copy', '--from', uri, '--to', back]);
    expect(returned).toMatchObject({ code: 0, stdout: expect.stringContaining('Copied 20,001 animals') });
    await annotate(returned.stdout);
    const transfer = await openEmbeddedTransfer({ dataDir: back, collections });
    const records = transfer.collections[0];
    const animals = [
      ...((await records?.records(0, 20_000)) ?? []),
      ...((await records?.records(20_000, 100)) ?? []),
    ];
    await transfer.close();
    expect(animals).toEqual([...someAnimals(20_000), created]);
    const again = await serveFolder({ env: { DATA_DIR: back } });
    expect(again.stderr()).toBe('');
    const next = (await create(again.origin)) as { id: number };
    expect(next.id).toBeGreaterThan(id);
    await again.stop();
  });

  test('copy --resume continues after kill -9', async ({ annotate }) => {
    const { dataDir } = await newStockedFolder(60_000);
    const { uri, database, start, command } = await newDatabase();
    const args = ['copy', '--from', dataDir, '--to', uri];
    const target = await openMongodbTransfer({ uri, database, collections });
    const copying = start({ args });
    while (((await target.collections[0]?.count()) ?? 0) < 2_000) await sleep(5);
    copying.child.kill('SIGKILL');
    expect(await copying.exited).toEqual({ code: null, signal: 'SIGKILL' });
    // MongoDB still stores batches that were already sent.
    let left = 0;
    for (let last = -1; last !== left;) {
      last = left;
      await sleep(200);
      left = (await target.collections[0]?.count()) ?? 0;
    }
    await target.close();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(60_000);
    expect(await command(args)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^The store of --to is not empty\. Choose .*\.\n$/),
    });
    const { code, stdout } = await command([...args, '--resume']);
    await annotate(stdout);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(
        `Copied 60,000 animals (${left.toLocaleString('en')} already present), 1 API key`,
      ),
    });
    const back = await command(['copy', '--from', uri, '--to', `${dataDir}-2`]);
    expect(checksumIn(back.stdout)).toBe(checksumIn(stdout));
  });

  test.for([['keys', 'list'], ['keys', 'revoke', 'ci'], ['copy']])(
    '%j of a missing database fails with a one-line message and creates none',
    async ([command = '', ...rest]) => {
      const { uri, database, command: run } = await newDatabase();
      const { dataDir } = await newFolder();
      const args = command === 'copy' ? ['--from', uri, '--to', dataDir] : rest;
      const { code, stdout, stderr } = await run([command, ...args]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^There is no store in the database [^\n]+\.\n$/);
      const client = new MongoClient(uri);
      onTestFinished(() => client.close());
      expect(await client.db(database).listCollections().toArray()).toEqual([]);
    },
  );

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
