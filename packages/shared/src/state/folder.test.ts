import { fork } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { memoryState } from 'trpc-gateway';
import { holdWriteLock } from '@petstore/testing/holdWriteLock';
import { nextMessage } from '@petstore/testing/nextMessage';
import { setBackCommits } from '@petstore/testing/setBackCommits';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderState } from './folder.ts';
import { describeState } from './testing/stateContract.ts';

const newPath = async () => join(await temporaryFolder(), 'state');

function openFolder(path: string) {
  const state = folderState({ path });
  onTestFinished(() => state.close());
  return state;
}

describeState('in memory', async () => {
  const state = memoryState();
  return { state, reopen: async () => state };
});

describeState('in a folder', async () => {
  const path = await newPath();
  return { state: openFolder(path), reopen: async () => openFolder(path) };
});

it('four processes that share a folder accept 1,000 calls of a limit of 1,000', async () => {
  const path = await newPath();
  const program = `
    const { folderState } = await import(${JSON.stringify(new URL('folder.ts', import.meta.url).href)});
    const state = folderState(${JSON.stringify({ path })});
    process.send('ready');
    await new Promise((resolve) => process.once('message', resolve));
    let accepted = 0;
    for (let call = 0; call < 600; call += 1)
      if (state.take('a', 1, { size: 1000, windowMs: 3_600_000_000 }).isTaken) accepted += 1;
    process.send(accepted);`;
  const processes = Array.from({ length: 4 }, () =>
    fork('-', [], { execArgv: ['--conditions=trpc-gateway-source', '--input-type=module', '-e', program] }),
  );
  onTestFinished(() => processes.forEach((each) => each.kill('SIGKILL')));
  await Promise.all(processes.map(nextMessage));
  const accepting = processes.map(nextMessage);
  for (const each of processes) each.send('go');
  const accepted = await Promise.all(accepting);
  expect(accepted.reduce<number>((total, each) => total + Number(each), 0)).toBe(1000);
});

it.each([1, 2])('a process that opens the folder during %i commits undoes none', async (commits) => {
  const path = await newPath();
  const state = openFolder(path);
  for (const key of ['a', 'b', 'c']) await state.add(key, key, 60_000);
  setBackCommits(join(path, 'values.mdb'), commits);
  expect(await state.add('d', 'd', 60_000)).toBeUndefined();
  for (const key of ['a', 'b', 'c', 'd']) expect(await state.add(key, 'other', 60_000)).toBe(key);
});

it('after a process has opened the folder during two calls, calls are counted again', async () => {
  const path = await newPath();
  const { take } = openFolder(path);
  const bucket = { size: 4, windowMs: 3_600_000 };
  for (let call = 0; call < 3; call += 1) await take('a', 1, bucket);
  setBackCommits(join(path, 'buckets.mdb'), 2);
  // MDB_BAD_TXN, or at times MDB_PROBLEM.
  expect(() => take('a', 1, bucket)).toThrow(/^MDB_/);
  expect([take('a', 1, bucket), take('a', 1, bucket)]).toMatchObject([{ isTaken: true }, { isTaken: false }]);
});

it('a state folder is readable by its owner only, and keeps values and buckets after close', async () => {
  const path = await newPath();
  const bucket = { size: 10, windowMs: 3_600_000 };
  const first = folderState({ path });
  await first.add('key', 'value', 60_000);
  await first.take('a', 10, bucket);
  await first.close();
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(path, 'values.mdb'))).mode & 0o777).toBe(0o600);
  const second = openFolder(path);
  expect(await second.add('key', 'other', 60_000)).toBe('value');
  expect(await second.take('a', 1, bucket)).toMatchObject({ isTaken: false });
});

it('full buckets are removed as other buckets are used', async () => {
  const path = await newPath();
  const state = openFolder(path);
  for (let at = 0; at < 500; at += 1) await state.take(`short ${at}`, 1, { size: 1, windowMs: 1 });
  const before = (await stat(join(path, 'buckets.mdb'))).size;
  for (let at = 0; at < 5000; at += 1) await state.take(`later ${at}`, 1, { size: 1, windowMs: 1 });
  expect((await stat(join(path, 'buckets.mdb'))).size).toBeLessThan(before * 3);
});

it('folderState rejects a path that cannot be opened, with the absolute path and the reason', async () => {
  const path = await newPath();
  await writeFile(path, '');
  expect(() => folderState({ path: relative('.', path) })).toThrow(
    expect.objectContaining({
      name: 'FolderError',
      message: expect.stringContaining(`The folder ${path} cannot be opened: ENOTDIR`),
    }),
  );
});

it('folderState rejects an lmdb that exports no version, with the version that it needs', async () => {
  vi.doMock('lmdb', async (original) => ({ ...(await original<object>()), version: undefined }));
  vi.resetModules();
  const older = await import('./folder.ts');
  vi.doUnmock('lmdb');
  // Other files of this process would get it.
  vi.resetModules();
  const path = await newPath();
  expect(() => older.folderState({ path })).toThrow('needs lmdb 3.1 or newer, found an older one.');
});

it.each<[what: string, mode: number, names: readonly string[], fix: string]>([
  ['an empty folder', 0o777, [], 'run chmod 700 PATH, or choose'],
  ['a folder of a group', 0o775, [], 'run chmod 700 PATH, or choose'],
  [
    'a folder with files of LMDB only',
    0o722,
    ['values.mdb', 'values.mdb-lock'],
    'run chmod 700 PATH, or choose',
  ],
  ['a sticky folder such as /tmp', 0o1777, [], 'choose'],
  ['a folder with other files', 0o777, ['mine.txt'], 'choose'],
])(
  'folderState rejects %s of mode %o, because other users can write to it',
  async (_what, mode, names, fix) => {
    const path = await newPath();
    await mkdir(path);
    for (const name of names) await writeFile(join(path, name), '');
    await chmod(path, mode);
    expect(() => folderState({ path })).toThrow(
      expect.objectContaining({
        name: 'FolderError',
        message: `Other users can write to the folder ${path} (mode ${mode.toString(8)}): ${fix.replace('PATH', path)} a folder that only this user can write to.`,
      }),
    );
    expect(await readdir(path)).toEqual(names);
  },
);

it.runIf(process.getuid?.() === 0)(
  'folderState accepts a folder of another user that its group may write to',
  async () => {
    const path = await newPath();
    await mkdir(path);
    await chown(path, 65_534, 0);
    await chmod(path, 0o2775);
    expect(await openFolder(path).add('key', 'value', 60_000)).toBeUndefined();
  },
);

it('folderState accepts a folder that other users can only read', async () => {
  const path = await newPath();
  await mkdir(path);
  await chmod(path, 0o755);
  expect(await openFolder(path).add('key', 'value', 60_000)).toBeUndefined();
});

describe.each(['values.mdb', 'values.mdb-lock', 'buckets.mdb', 'buckets.mdb-lock'])(
  'a symbolic link %s',
  (name) => {
    it.each(['important', undefined])(
      'is rejected, and nothing is written to its target: %s',
      async (text) => {
        const path = await newPath();
        await mkdir(path, { mode: 0o700 });
        const target = `${path}-target`;
        if (text !== undefined) await writeFile(target, text);
        await symlink(target, join(path, name));
        expect(() => folderState({ path })).toThrow(
          expect.objectContaining({
            name: 'FolderError',
            message: `${join(path, name)} is a symbolic link; it must be a regular file. Remove it, or choose another folder.`,
          }),
        );
        expect(await readFile(target, 'utf8').catch(() => undefined)).toBe(text);
      },
    );
  },
);

it('folderState rejects a folder in place of a file', async () => {
  const path = await newPath();
  await mkdir(join(path, 'buckets.mdb'), { recursive: true, mode: 0o700 });
  expect(() => folderState({ path })).toThrow('buckets.mdb is not a file; it must be a regular file.');
});

it('a write is rejected after 5 s while another process holds the lock, and never stored; close gives up after 2 s', async () => {
  const path = await newPath();
  const state = openFolder(path);
  const holder = await holdWriteLock(join(path, 'values.mdb'));
  onTestFinished(() => void holder.kill('SIGKILL'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let settled = 0;
  const writes = Promise.allSettled(
    [state.add('a', 'first', 60_000), state.set('a', 'second', 60_000, 'ada')].map((write) =>
      Promise.resolve(write).finally(() => (settled += 1)),
    ),
  );
  await vi.advanceTimersByTimeAsync(4999);
  expect(settled).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  const reason = new Error(
    `The state in ${join(path, 'values.mdb')} has not completed a write for 5 s: its disk hangs, a process that shares it is suspended, or the machine is overloaded.`,
  );
  expect(await writes).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  const closing = state.close().catch(({ message }: Error) => message);
  await vi.advanceTimersByTimeAsync(2000);
  expect(await closing).toContain('has not completed a write for 2 s: its disk hangs');
  holder.kill('SIGKILL');
  expect(await state.add('a', 'third', 60_000)).toBeUndefined();
});

it('add rejects after the folder was closed', async () => {
  const path = await newPath();
  const state = folderState({ path });
  await state.close();
  await expect(state.add('a', 'value', 60_000)).rejects.toThrow('is closed.');
});

it('add rejects after the folder was removed, because a process that recreates it would run calls twice', async () => {
  const path = await newPath();
  const state = openFolder(path);
  await state.add('a', 'value', 60_000);
  await rm(path, { recursive: true });
  const message = `The file ${join(path, 'values.mdb')} was removed or replaced. Restart all processes of the service.`;
  await expect(state.add('a', 'value', 60_000)).rejects.toThrow(message);
  await openFolder(path).add('a', 'value', 60_000);
  await expect(state.add('a', 'value', 60_000)).rejects.toThrow(message);
});
