import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = new URL('../../../../', import.meta.url);

interface Lock {
  readonly packages: Record<string, { integrity?: string; resolved?: string }>;
}

/** Runs `.ci/lockfile.mjs` on a changed copy of the repository's lock, and returns its exit code and stderr. */
async function check(change: (lock: Lock) => void): Promise<string> {
  const lock = JSON.parse(await readFile(new URL('package-lock.json', root), 'utf8')) as Lock;
  change(lock);
  const folder = await mkdtemp(join(tmpdir(), 'lockfile-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'package-lock.json');
  await writeFile(file, JSON.stringify(lock));
  return new Promise((resolve) => {
    const script = fileURLToPath(new URL('.ci/lockfile.mjs', root));
    execFile(process.execPath, [script, file], (error, _stdout, stderr) => {
      resolve(`${error?.code ?? 0} ${stderr}`);
    });
  });
}

test('the check of package-lock.json accepts the committed file', async () => {
  expect(await check(() => {})).toBe('0 ');
});

test.for<[what: string, change: (lock: Lock) => void, problem: string]>([
  [
    'an entry without integrity',
    ({ packages }) => delete packages['node_modules/lmdb']?.integrity,
    'package-lock.json: node_modules/lmdb@3.5.6: integrity is missing; it must be one sha512 hash.',
  ],
  [
    'an entry with a download address',
    ({ packages }) =>
      Object.assign(packages['node_modules/zod'] ?? {}, { resolved: 'https://example.com/zod.tgz' }),
    'package-lock.json: node_modules/zod@4.6.7: resolved is https://example.com/zod.tgz; it must be left out (.npmrc).',
  ],
  [
    "a native package without another platform's binary",
    ({ packages }) => delete packages['node_modules/@lmdb/lmdb-darwin-arm64'],
    'package-lock.json: node_modules/lmdb: its optional dependency @lmdb/lmdb-darwin-arm64@3.5.6 has no entry.',
  ],
])('the check of package-lock.json rejects %s', async ([, change, problem]) => {
  expect(await check(change)).toBe(`1 ${problem}\n`);
});
