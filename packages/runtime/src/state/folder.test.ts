import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { memoryState } from '@petstore/gateway';
import { expect, it, onTestFinished } from 'vitest';
import { folderState } from './folder.ts';
import { describeState } from './testing/stateContract.ts';

async function newPath(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'state-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  return join(parent, 'state');
}

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
      name: 'StartError',
      message: expect.stringContaining(`The state folder ${path} cannot be opened: EEXIST`),
    }),
  );
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
