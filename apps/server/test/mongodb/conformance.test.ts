import { petStoreConformance } from '../conformance/petStoreConformance.ts';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { describe } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { listening, ready, run } from '../testing/petStoreProcess.ts';

describe.skipIf(mongodbUri === undefined)('on MongoDB', () => {
  petStoreConformance('the process, from its sources, on MongoDB', async () => {
    const { uri, database, drop } = testDatabase();
    const env = { PORT: '0', MONGODB_URI: uri, MONGODB_DB: database, API_KEY: apiKey };
    const { origin, stop } = await listening(run({ env }));
    await ready({ origin });
    return {
      origin,
      apiKey,
      async close() {
        await stop();
        await drop();
      },
    };
  });
});
