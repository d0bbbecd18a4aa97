import { MongoClient } from 'mongodb';
import { mongodbUri } from '@petstore/testing/mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { newDatabase } from '../testing/newDatabase.ts';
import { logLines, ready } from '../testing/petStoreProcess.ts';
import { listPets } from '../testing/petCalls.ts';

const never = { CREATE_STORE: 'never' };

describe.skipIf(mongodbUri === undefined)('CREATE_STORE=never on MongoDB', () => {
  test('with CREATE_STORE=never a database without a store stays as it is, and the log has the reason until init creates one', async () => {
    const { uri, database, serve, command } = await newDatabase();
    const server = await serve({ env: never });
    const response = await fetch(`${server.origin}/readyz`);
    expect([response.status, await response.json()]).toMatchObject([503, { reason: 'unavailable' }]);
    // On a busy machine, the response comes before the database has answered.
    await expect
      .poll(() => logLines(server))
      .toContainEqual(
        expect.objectContaining({
          level: 50,
          msg: 'the store is not ready',
          err: expect.objectContaining({ message: expect.stringMatching(/no store/) }),
        }),
      );
    const client = await MongoClient.connect(uri);
    onTestFinished(() => client.close());
    expect(await client.db(database).listCollections().toArray()).toEqual([]);
    const { code, stdout } = await command(['init'], { env: never });
    expect(code).toBe(0);
    await ready(server);
    expect((await listPets(server.origin, { key: stdout.trim() })).status).toBe(200);
    expect(server.stderr()).toBe('');
  });

  test('init fails if the database has a store, also one that has no key', async () => {
    const { database, command } = await newDatabase();
    expect(await command(['init'], { env: { API_KEY: apiKey } })).toMatchObject({
      code: 0,
      stdout: `Created a store without a key in the database ${database}, because API_KEY is set.\n`,
    });
    expect(await command(['init'])).toMatchObject({
      code: 1,
      stderr: `There is already a store in the database ${database}. Nothing was changed.\n`,
    });
    expect((await command(['keys', 'list'])).stdout).not.toContain('first');
  });
});
