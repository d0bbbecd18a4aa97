import { openMongodbStore, openMongodbTransfer } from '@petstore/core/store/mongodb';
import type { CollectionDefinition, Store, StoreTransfer } from '@petstore/core/store';
import { testDatabase } from '@petstore/testing/mongodb';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { onTestFinished } from 'vitest';
import { openEmbeddedStore, openEmbeddedTransfer } from '../index.ts';

/** Data that is opened by a store or by a transfer, one at a time. It is removed when the test ends. */
export interface TestData {
  readonly openStore: () => Promise<Store>;
  readonly openTransfer: () => Promise<StoreTransfer>;
}

export async function dataFolder(collections: readonly CollectionDefinition[]): Promise<TestData> {
  const dataDir = await temporaryFolder();
  return {
    openStore: () => openEmbeddedStore({ dataDir, collections }),
    openTransfer: () => openEmbeddedTransfer({ dataDir, collections }),
  };
}

export async function database(collections: readonly CollectionDefinition[]): Promise<TestData> {
  const { drop, ...options } = testDatabase();
  onTestFinished(drop);
  return {
    openStore: () => openMongodbStore({ ...options, collections }),
    openTransfer: () => openMongodbTransfer({ ...options, collections }),
  };
}
