import { commandMissing } from '@petstore/testing/commandMissing';
import { longForm } from '@petstore/testing/forms';
import { expect, test } from 'vitest';
import { diskFaultRound, diskFaults } from '../testing/diskFaults/diskFaultRound.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';

const rounds = longForm ? 50 : 1;

// The long form: `npm run test:storefaults -w @petstore/server`.
test.skipIf(commandMissing('strace')).for(diskFaults)(
  'a server under the disk fault "%s" loses no acknowledged animal without reporting it, and ends in time',
  { timeout: rounds * 60_000 },
  async (fault, { annotate }) => {
    for (let count = 0; count < rounds; count += 1) {
      const { serve, dataDir } = await newFolder();
      const server = await serve({ env: { API_KEY: apiKey } });
      const round = await diskFaultRound(fault, server, apiKey, dataDir);
      await annotate(JSON.stringify(round));
      expect(round.hit).not.toBe('nothing');
      expect(round.faults).toEqual([]);
    }
  },
);
