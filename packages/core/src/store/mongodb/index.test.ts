import { describe } from 'vitest';
import { contractCollections, contractReservations, storeContract } from '../testing/contract.ts';
import type { Store } from '../store.ts';
import { openMongodbStore } from './index.ts';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';

describe.skipIf(mongodbUri === undefined)('on a server', () => {
  storeContract(
    'mongodb',
    async () => {
      const { uri, database, drop } = testDatabase();
      const opened: Store[] = [];
      const reopen = async (collections = contractCollections) => {
        const store = await openMongodbStore({
          uri,
          database,
          collections,
          maxReservations: contractReservations,
          // Other tests share the machine.
          operationTimeoutMs: 20_000,
        });
        opened.push(store);
        return store;
      };
      return {
        store: await reopen(),
        reopen,
        async cleanup() {
          for (const store of opened) await store.close();
          await drop();
        },
      };
    },
    { gaplessIds: false },
  );
});
