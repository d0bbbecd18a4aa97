import { lacksSmallDisks, mountSmallDisk } from '@petstore/testing/smallDisk';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { execFileSync } from 'node:child_process';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openEmbeddedStore } from './index.ts';
import { backupFolder } from './maintenance/backup.ts';
import { readInProcess, startStoreProcess } from './testing/startStoreProcess.ts';
import { animals, collections } from '@petstore/core';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder, 'data');
});

const FillResult = z.object({ stored: z.int(), code: z.string(), message: z.string() });

describe.skipIf(lacksSmallDisks())('a full disk', () => {
  test.for(['1', '40'])(
    'on a full disk %s concurrent creates fail with full, acknowledged animals stay, and creates succeed after space is freed',
    async (group) => {
      mountSmallDisk(dataDir);
      const filler = join(dataDir, 'filler');
      await writeFile(filler, Buffer.alloc(500_000));
      const child = startStoreProcess(['fill', dataDir, group]);
      const { stored, ...error } = FillResult.parse(await child.next());
      expect(error).toEqual({
        code: 'full',
        message: expect.stringMatching(
          /^The disk of the data folder .* is full \(E\w+\) and nothing was stored/,
        ),
      });
      const reader = await openEmbeddedStore({ dataDir, collections });
      const ids: number[] = [];
      for (let more = true; more;) {
        const page = await reader.collection(animals).list({ limit: 100, cursor: ids.at(-1) });
        ids.push(...page.records.map(({ id }) => id));
        more = page.hasNext;
      }
      await reader.close();
      expect(ids).toHaveLength(stored);

      await rm(filler);
      child.child.stdin?.write('\n');
      expect(await child.next()).toEqual({ id: stored + 1, name: 'Rex', categoryId: 1 });
      expect(await child.rest()).toMatchObject({ exitCode: 0 });
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
    await startStoreProcess(['create', dataDir, '1']).rest();
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

// prlimit(1) exists only on Linux.
test.runIf(process.platform === 'linux')(
  'a limit on the file size makes creates fail, loses no acknowledged animal and does not end the process',
  async () => {
    const child = startStoreProcess(['create', dataDir, '1']);
    await child.rest();
    const limited = startStoreProcess(['fill', dataDir, '10']);
    execFileSync('prlimit', ['--pid', String(limited.child.pid), '--fsize=1000000:unlimited']);
    const { stored, code } = FillResult.parse(await limited.next());
    // LMDB reports EFBIG if no byte was written, and EIO after a partial write.
    expect(['full', 'outcome-unknown']).toContain(code);
    execFileSync('prlimit', ['--pid', String(limited.child.pid), '--fsize=unlimited:unlimited']);
    limited.child.stdin?.write('\n');
    expect(await limited.next()).toEqual({ id: stored + 2, name: 'Rex', categoryId: 1 });
    expect(await limited.rest()).toMatchObject({ exitCode: 0 });
  },
);
