import { MongoClient } from 'mongodb';
import { mongodbUri } from '@petstore/testing/mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { ready } from '../testing/petStoreProcess.ts';
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
});
