import { contractReservations, storeContract } from '@petstore/core/store/testing';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { openEmbeddedStore } from './index.ts';

storeContract(
  'embedded',
  async () => {
    const data = { dataDir: await temporaryFolder(), maxReservations: contractReservations };
    // The folder is removed when the test ends.
    return { open: (options) => openEmbeddedStore({ ...data, ...options }), remove: async () => {} };
  },
  { gaplessIds: true },
);
