import { commandMissing } from '@petstore/testing/commandMissing';
import { expect, test } from 'vitest';
import { diskFaultRound, diskFaults } from './testing/diskFaults/diskFaultRound.ts';
import { apiKey, newFolder } from './testing/newFolder.ts';

// The long form: `npm run test:storefaults`.
test.skipIf(commandMissing('strace')).for(diskFaults)(
  'no animal that was acknowledged is lost without being said, and the process ends in time: %s',
  { timeout: 60_000 },
  async (fault, { annotate }) => {
    const { serve, dataDir } = await newFolder();
    const server = await serve({ env: { API_KEY: apiKey } });
    const round = await diskFaultRound(fault, server, apiKey, dataDir);
    await annotate(JSON.stringify(round));
    expect(round.hit).not.toBe('nothing');
    expect(round.faults).toEqual([]);
  },
);
