import { lacksSmallDisks, mountSmallDisk } from '@petstore/testing/smallDisk';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openEmbeddedStore } from './index.ts';
import { backupFolder } from './maintenance/backup.ts';
import { readInProcess, runStoreProcess } from './testing/runStoreProcess.ts';
import { animals, collections } from '@petstore/core';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
});

describe.skipIf(lacksSmallDisks())('a full disk', () => {
  test.for([1, 40])(
    'on a full disk %d concurrent creates fail with full, acknowledged animals stay, and creates succeed after space is freed',
    async (group) => {
      mountSmallDisk(dataDir);
      const filler = join(dataDir, 'filler');
      await writeFile(filler, Buffer.alloc(500_000));
      const store = await openEmbeddedStore({ dataDir, collections });
      onTestFinished(() => store.close());
      // lmdb prints each failed commit.
      const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
      const pets = store.collection(animals);
      const large = { name: 'x'.repeat(3000), categoryId: 1 };
      let stored = 0;
      let failure: PromiseRejectedResult | undefined;
      while (failure === undefined) {
        const creates = Array.from({ length: group }, () => pets.create(large));
        const results = await Promise.allSettled(creates);
        stored += results.filter(({ status }) => status === 'fulfilled').length;
        failure = results.find((result) => result.status === 'rejected');
      }
      expect(failure.reason).toMatchObject({
        code: 'full',
        message: expect.stringMatching(
          /^The disk of the data folder .* is full \(E\w+\) and nothing was stored/,
        ),
      });
      expect((await pets.list({ limit: 9_000 })).records).toHaveLength(stored);
      await rm(filler);
      const rex = { name: 'Rex', categoryId: 1 };
      expect(await pets.create(rex)).toEqual({ id: stored + 1, ...rex });
      printed.mockClear();
    },
  );

  test.for([0, 40_000, 70_000, 140_000])(
    'a first start with %d free bytes fails with full and leaves no incomplete store',
    async (freeBytes) => {
      mountSmallDisk(dataDir);
      const filler = join(dataDir, 'filler');
      await writeFile(filler, Buffer.alloc(2_097_152 - freeBytes));
      expect(await readInProcess(dataDir)).toMatchObject({ code: 'full' });
      await rm(filler);
      expect(await readInProcess(dataDir)).toBe('read');
    },
  );

  test('a backup to a full disk fails with full and leaves nothing there, and succeeds after space is freed', async () => {
    await runStoreProcess(['create', dataDir, '1']);
    const disk = join(folder, 'disk');
    mountSmallDisk(disk);
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(2_097_152 - 20_000));
    const backup = { dataDir, to: join(disk, 'backup') };
    await expect(backupFolder(backup)).rejects.toMatchObject({
      code: 'full',
      message: expect.stringMatching(/^The disk of .* is full and no backup was made/),
    });
    expect(await readdir(disk)).toEqual(['filler']);
    await rm(filler);
    expect(await backupFolder(backup)).toMatchObject({ keys: 0 });
  });
});
