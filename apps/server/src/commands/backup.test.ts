import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Configuration } from '../configuration/configuration.ts';
import { apiKey, newFolder } from '../../test/testing/newFolder.ts';
import { createPet } from '../../test/testing/petCalls.ts';
import { runBackup } from './backup.ts';

// What a backup contains, its modes, and missing, full and read-only folders: packages/embedded-store/src/maintenance.

test('backup of the folder of a server prints what it has copied, which is all that was acknowledged before', async () => {
  const folder = await newFolder();
  const { origin } = await folder.serve({ env: { API_KEY: apiKey } });
  await Promise.all(Array.from({ length: 200 }, async () => (await createPet(origin)).text()));
  const to = join(dirname(folder.dataDir), 'a backup');
  expect(await folder.command(['backup', to])).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^Backed up 200 animals(?:, 0 \w+)* and 0 API keys \([\d,]+ bytes\) to .*a backup in [\d.]+ s\.\n$/,
    ),
  });
});

test('backup rejects a configuration with MONGODB_URI', async () => {
  const { dataDir, inProcess } = await newFolder();
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1' };
  const backup = (configuration: Configuration) => runBackup(`${dataDir}-2`, configuration);
  expect(await inProcess(backup, env)).toMatchObject({
    code: 1,
    stderr:
      'backup copies a data folder, but MONGODB_URI is set. Back up the database with its own tools, or use copy.\n',
  });
});
