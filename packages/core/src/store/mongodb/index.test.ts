import { describe, onTestFinished } from 'vitest';
import { contractReservations, storeContract } from '../testing/contract.ts';
import { openMongodbStore } from './index.ts';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';

describe.skipIf(mongodbUri === undefined)('on a server', () => {
  storeContract(
    'mongodb',
    () => {
      const { drop, ...database } = testDatabase();
      // Other tests share the machine.
      const limits = { maxReservations: contractReservations, operationTimeoutMs: 20_000 };
      onTestFinished(drop);
      return (options) => openMongodbStore({ ...database, ...limits, ...options });
    },
    { gaplessIds: false },
  );
});
