import { type ChildProcess, fork } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '@petstore/testing/nextMessage';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { setBackCommits } from '@petstore/testing/setBackCommits';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it, onTestFinished } from 'vitest';
import { beginning } from './eventLog.ts';
import { folderEventLog } from './folder.ts';
import { describeEventLog, numbers, TestReader } from './testing/eventLogContract.ts';
import type { EventProcessOptions, Written } from './testing/eventProcess.ts';

const processFile = fileURLToPath(new URL('testing/eventProcess.ts', import.meta.url));
const keep = { events: 1000, ms: 3_600_000 };

const newPath = async () => join(await temporaryFolder(), 'state');

function openFolder(path: string) {
  const log = folderEventLog({ path });
  onTestFinished(() => log.close());
  return log;
}

const openNewFolder = async () => {
  const path = await newPath();
  return { log: openFolder(path), reopen: async () => openFolder(path) };
};

function startEventProcess(options: EventProcessOptions, execPath = process.execPath): ChildProcess {
  const started = fork(processFile, [JSON.stringify(options)], {
    execPath,
    execArgv: ['--conditions=trpc-gateway-source'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started;
}

describeEventLog('in a folder', openNewFolder);

/** Until the end of the test, logs that are opened learn of changes of their file by the function that is returned alone. */
function holdWatches(): () => void {
  const { watch } = fs;
  const listeners: (() => void)[] = [];
  function setWatch(value: unknown): void {
    fs.watch = value as typeof watch;
    syncBuiltinESMExports();
  }
  setWatch((_path: string, _options: object, listener: () => void) => {
    listeners.push(listener);
    // All that is used of it.
    return Object.assign(new EventEmitter(), { close() {} });
  });
  onTestFinished(() => setWatch(watch));
  return () => listeners.forEach((listener) => listener());
}

it('on systems where file events may be missing, readers get the events of other processes without them', async () => {
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
  holdWatches();
  const { log, reopen } = await openNewFolder();
  const reader = new TestReader(await reopen(), 'a');
  expect(await reader.texts(1)).toEqual(['(joined)']);
  for (const event of numbers(1, 3)) {
    const received = reader.texts(1);
    // The reader waits before it is stored.
    await new Promise(setImmediate);
    await log.append('a', event, keep);
    expect(await received).toEqual([event]);
  }
});

const runtimes = [{ title: 'Node', executable: process.execPath }, ...runtimesToTest('bun')];

it.each(runtimes)('a process on $title is woken by each commit of another one', async ({ executable }) => {
  const path = await newPath();
  const log = openFolder(path);
  const rounds = async (_: unknown, at: number) => {
    const [channel, to] = [`to${at}`, `from${at}`];
    const other = startEventProcess({ path, channel, to }, executable);
    await nextMessage(other);
    // Says so if the other process ends, for whose reply the test would wait.
    const ended = once(other, 'exit').then((outcome) => ({ value: outcome }));
    const replies = new TestReader(log, to);
    await replies.next();
    for (let round = 0; round < 1000; round += 1) {
      await log.append(channel, String(round), keep);
      const reply = await Promise.race([replies.next(), ended]);
      expect(reply).toMatchObject({ value: { event: String(round) } });
    }
  };
  await Promise.all(Array.from({ length: 3 }, rounds));
});

it('a process that learns of over 1,000 events at once wakes the readers of all', async () => {
  const { log, reopen } = await openNewFolder();
  const showChanges = holdWatches();
  const reader = new TestReader(await reopen(), 'a');
  expect(await reader.texts(1)).toEqual(['(joined)']);
  const received = reader.texts(1);
  // The reader waits before they are stored.
  await new Promise(setImmediate);
  await Promise.all(numbers(1, 1000).map((event) => log.append('b', event, keep)));
  await log.append('a', 'x', keep);
  showChanges();
  expect(await received).toEqual(['x']);
});

it.each([1, 2])('a process that opens the log during %i commits undoes none', async (commits) => {
  const path = await newPath();
  const log = openFolder(path);
  for (const event of numbers(1, 3)) await log.append('a', event, keep);
  const file = (await readdir(path)).find((name) => name.endsWith('.mdb')) ?? '';
  setBackCommits(join(path, file), commits);
  await log.append('a', '4', keep);
  expect(await new TestReader(log, 'a', beginning).texts(4)).toEqual(numbers(1, 4));
});

it('processes that open a new folder at the same time share one log', async () => {
  const path = await newPath();
  const processes = numbers(1, 5).map((to) => startEventProcess({ path, channel: 'a', to }));
  const first = (await Promise.all(processes.map(nextMessage))) as readonly Written[];
  const log = openFolder(path);
  expect(new Set(first.map(({ id }) => id.split('-')[0])).size).toBe(1);
  expect(new Set(first.map(({ id }) => id)).size).toBe(5);
  for (const [at, { event }] of first.entries()) {
    expect(await new TestReader(log, numbers(1, 5)[at] ?? '', beginning).item()).toMatchObject({ event });
  }
});

it.skipIf(process.platform !== 'linux')(
  'the log of an earlier boot is removed, because its last events may not be on disk',
  async () => {
    const path = await newPath();
    await folderEventLog({ path }).close();
    for (const name of ['events-0000.mdb', 'events-0000.mdb-lock', 'values.mdb'])
      await writeFile(join(path, name), '');
    openFolder(path);
    const names = await readdir(path);
    expect(names.filter((name) => name.endsWith('.mdb'))).toEqual([
      expect.stringMatching(/^events-[0-9a-f-]{36}\.mdb$/),
      'values.mdb',
    ]);
  },
);

it('append and readers that wait throw after the folder was removed, and a new log is there for new processes', async () => {
  const path = await newPath();
  const log = openFolder(path);
  const message = /events.*\.mdb was removed or replaced\. Restart all processes of the service\./;
  const pending = Promise.allSettled([new TestReader(log, 'a').texts(2)]);
  const id = await log.append('b', 'x', keep);
  await rm(path, { recursive: true });
  await expect(log.append('a', 'x', keep)).rejects.toThrow(message);
  expect(await pending).toMatchObject([{ reason: { message: expect.stringMatching(message) } }]);
  const other = openFolder(path);
  await expect(log.append('a', 'x', keep)).rejects.toThrow(message);
  await other.append('a', 'y', keep);
  expect(await new TestReader(other, 'a', id).texts(2)).toEqual(['(resync)', 'y']);
});
