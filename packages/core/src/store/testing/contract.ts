import { beforeEach, describe, onTestFinished } from 'vitest';
import { animals } from '../../procedures/animals.ts';
import type { MaybePromise } from '../store.ts';
import { createOnceCases } from './contract/createOnce.ts';
import { endingCases } from './contract/endings.ts';
import { keyCases } from './contract/keys.ts';
import { recordCases } from './contract/records.ts';
import { secondCollectionCases } from './contract/secondCollection.ts';
import {
  contractCollections,
  type OpenStore,
  type StoreCapabilities,
  type StoreTest,
} from './contract/storeTest.ts';
import { versionCases } from './contract/versions.ts';

export { categories, Category, contractReservations } from './contract/storeTest.ts';

/**
 * Defines the tests that every store passes: docs/decisions.md#stores. Call it in a test file.
 * @param newData creates the data of a test, and removes it when the test has ended
 */
export function storeContract(
  name: string,
  newData: () => MaybePromise<OpenStore>,
  capabilities: StoreCapabilities,
): void {
  describe(`the store contract: ${name}`, () => {
    let open: OpenStore;
    const t = {
      capabilities,
      async openAgain(definitions = contractCollections, options = {}) {
        const store = await open({ collections: definitions, ...options });
        onTestFinished(() => store.close());
        return (t.store = store);
      },
      async reopen() {
        await t.store.close();
        t.pets = (await t.openAgain()).collection(animals);
        return t.store;
      },
      async renew() {
        open = await newData();
      },
    } as StoreTest;

    beforeEach(async () => {
      open = await newData();
      t.pets = (await t.openAgain()).collection(animals);
    });

    recordCases(t);
    versionCases(t);
    createOnceCases(t);
    secondCollectionCases(t);
    keyCases(t);
    endingCases(t);
  });
}
