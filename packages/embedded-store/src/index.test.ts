import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractCollections, contractReservations, storeContract } from '@petstore/core/store/testing';
import type { Store } from '@petstore/core/store';
import { openEmbeddedStore } from './index.ts';

storeContract(
  'embedded',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
    const opened: Store[] = [];
    const reopen = async (collections = contractCollections) => {
      const store = await openEmbeddedStore({
        dataDir,
        collections,
        maxReservations: contractReservations,
      });
      opened.push(store);
      return store;
    };
    return {
      store: await reopen(),
      reopen,
      async cleanup() {
        for (const store of opened) await store.close();
        await rm(dataDir, { recursive: true });
      },
    };
  },
  { gaplessIds: true },
);
