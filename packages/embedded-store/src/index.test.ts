import { contractReservations, storeContract } from '@petstore/core/store/testing';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { openEmbeddedStore } from './index.ts';

storeContract(
  'embedded',
  async () => {
    const data = { dataDir: await temporaryFolder(), maxReservations: contractReservations };
    return (options) => openEmbeddedStore({ ...data, ...options });
  },
  { gaplessIds: true },
);
