import { openMongodbStore } from '@petstore/core/store/mongodb';
import type { CollectionDefinition, CollectionTransfer, CopyableStore } from '@petstore/core/store';
import { testDatabase } from '@petstore/testing/mongodb';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { onTestFinished } from 'vitest';
import { openEmbeddedStore } from '../index.ts';

/** Opens a store with new data until the test ends. */
type NewStore = (collections: readonly CollectionDefinition[]) => Promise<CopyableStore>;

export const inFolder: NewStore = async (collections) => {
  const store = await openEmbeddedStore({ dataDir: await temporaryFolder(), collections });
  onTestFinished(() => store.close());
  return store;
};

export const inDatabase: NewStore = async (collections) => {
  const { drop, ...options } = testDatabase();
  onTestFinished(drop);
  const store = await openMongodbStore({ ...options, operationTimeoutMs: 60_000, collections });
  onTestFinished(() => store.close());
  return store;
};

/** The first collection of a store that can be copied, which the tests fill with animals. */
export function animalsOf(store: CopyableStore): CollectionTransfer {
  const [collection] = store.transfer().collections;
  if (collection === undefined) throw new Error('There are no animals.');
  return collection;
}
