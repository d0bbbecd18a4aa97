import { afterEach, beforeEach, describe } from 'vitest';
import { animals } from '../../procedures/animals.ts';
import type { MaybePromise, Store } from '../store.ts';
import { createOnceCases } from './contract/createOnce.ts';
import { endingCases } from './contract/endings.ts';
import { keyCases } from './contract/keys.ts';
import { recordCases } from './contract/records.ts';
import { secondCollectionCases } from './contract/secondCollection.ts';
import {
  contractCollections,
  type StoreCapabilities,
  type StoreTest,
  type StoreUnderTest,
} from './contract/storeTest.ts';
import { versionCases } from './contract/versions.ts';

export { categories, Category, contractReservations } from './contract/storeTest.ts';

/** Defines the tests that every store passes: docs/decisions.md#stores. Call it in a test file. */
export function storeContract(
  name: string,
  newData: () => MaybePromise<StoreUnderTest>,
  capabilities: StoreCapabilities,
): void {
  describe(`the store contract: ${name}`, () => {
    let data: StoreUnderTest;
    let opened: Store[];
    const t = {
      capabilities,
      async openAgain(definitions = contractCollections, options = {}) {
        t.store = await data.open({ collections: definitions, ...options });
        opened.push(t.store);
        return t.store;
      },
      async reopen() {
        await t.store.close();
        t.pets = (await t.openAgain()).collection(animals);
        return t.store;
      },
      async renew() {
        await data.remove();
        data = await newData();
      },
    } as StoreTest;

    beforeEach(async () => {
      data = await newData();
      opened = [];
      t.pets = (await t.openAgain()).collection(animals);
    });
    afterEach(async () => {
      for (const each of opened) await each.close();
      await data.remove();
    });

    recordCases(t);
    versionCases(t);
    createOnceCases(t);
    secondCollectionCases(t);
    keyCases(t);
    endingCases(t);
  });
}
