import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import type { ServeOptions } from '../conformance/client.ts';
import { mongodbUri, type TestDatabase, testDatabase } from '@petstore/testing/mongodb';
import { afterAll, describe } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { listening, ready, run } from '../testing/petStoreProcess.ts';

describe.skipIf(mongodbUri === undefined)('on MongoDB', () => {
  /** Databases on which a test starts a second server, by the suite's `dataDir`. */
  const kept = new Map<string, TestDatabase>();
  afterAll(() => Promise.all([...kept.values()].map(({ drop }) => drop())));

  async function serve({ dataDir }: ServeOptions = {}) {
    const database = (dataDir === undefined ? undefined : kept.get(dataDir)) ?? testDatabase();
    if (dataDir !== undefined) kept.set(dataDir, database);
    const env = {
      PORT: '0',
      MONGODB_URI: database.uri,
      MONGODB_DB: database.database,
      API_KEY: apiKey,
    };
    const { origin, stop } = await listening(run({ env }));
    await ready({ origin });
    return {
      origin,
      apiKey,
      async close() {
        await stop();
        if (dataDir === undefined) await database.drop();
      },
    };
  }

  petStoreConformance('the process, from its sources, on MongoDB', serve);
});
