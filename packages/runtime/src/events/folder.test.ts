import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { beginning, type EventLog, type LogItem } from './eventLog.ts';
import { folderEventLog } from './folder.ts';
import { describeEventLog } from './testing/eventLogContract.ts';
import type { EventProcessOptions, ReadEvents } from './testing/eventProcess.ts';

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

/** Pretends to be on another system for the rest of the test. */
function onPlatform(platform: NodeJS.Platform): void {
  const original = process.platform;
  Object.defineProperty(process, 'platform', { value: platform });
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: original }));
}

/** Reads items of a channel. */
async function readItems(log: EventLog, after: string | undefined, count: number): Promise<LogItem[]> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const iterator = log.read('a', after, controller.signal)[Symbol.asyncIterator]();
  const items: LogItem[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one item after the other
  for (let at = 0; at < count; at += 1) items.push((await iterator.next()).value as LogItem); // It does not end.
  return items;
}

const typesOf = (items: readonly LogItem[]) => items.map(({ type }) => type);

function startEventProcess(options: EventProcessOptions): ChildProcess {
  const started = fork(processFile, [JSON.stringify(options)], {
    execArgv: ['--conditions=trpc-gateway-source'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  return started;
}

describeEventLog('in a folder', openNewFolder);

describe('on systems where file events may be missing', () => {
  describeEventLog('in a folder', async () => {
    onPlatform('darwin');
    return openNewFolder();
  });
});

it('processes that share a folder read the events of all, and lose none that was stored when a writer is killed', async () => {
  const path = await newPath();
  const log = openFolder(path);
  const readers = ['r1', 'r2', 'r3'].map((name) => startEventProcess({ path, role: 'reader', name }));
  await Promise.all(readers.map((each) => once(each, 'message')));
  const read = readers.map((each) => once(each, 'message') as Promise<[ReadEvents]>);
  const stored: string[] = [];
  const writers = ['w1', 'w2', 'w3'].map((name) => startEventProcess({ path, role: 'writer', name }));
  for (const [at, writer] of writers.entries()) {
    let count = 0;
    writer.on('message', (event: string) => {
      stored.push(event);
      if ((count += 1) === 700 && at === 0) writer.kill('SIGKILL');
    });
  }
  await Promise.all(writers.map((each) => once(each, 'close')));
  await log.append('a', 'end', keep);
  const [first, ...others] = (await Promise.all(read)).map(([each]) => each);
  expect(first?.resyncCount).toBe(0);
  const counts = Map.groupBy(first?.events ?? [], (event) => event);
  expect(stored.filter((event) => counts.get(event)?.length !== 1)).toEqual([]);
  expect(stored.length).toBeGreaterThanOrEqual(4700);
  for (const other of others) expect(other).toEqual(first);
}, 60_000);

it.skipIf(process.platform !== 'linux')(
  'a process without its own timer gets the last event of another that is killed right after its commit',
  async () => {
    const path = await newPath();
    const log = openFolder(path);
    const pending = readItems(log, undefined, 2);
    const program = `
      const { folderEventLog } = await import(${JSON.stringify(new URL('folder.ts', import.meta.url).href)});
      await folderEventLog(${JSON.stringify({ path })}).append('a', 'last words', { events: 10, ms: 60_000 });
      process.kill(process.pid, 'SIGKILL');`;
    const setTimer = vi.spyOn(globalThis, 'setInterval');
    onTestFinished(() => setTimer.mockRestore());
    const child = fork('-', [], {
      execArgv: ['--conditions=trpc-gateway-source', '--input-type=module', '-e', program],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await pending).toMatchObject([{ type: 'joined' }, { event: 'last words' }]);
    expect(setTimer).not.toHaveBeenCalled();
  },
);

it('events survive their processes: a log that is closed and opened again continues its channels', async () => {
  const path = await newPath();
  const first = folderEventLog({ path });
  const id = await first.append('a', 'x', keep);
  await first.close();
  const second = openFolder(path);
  const next = await second.append('a', 'y', keep);
  expect(next.split('-')[0]).toBe(id.split('-')[0]);
  expect(await readItems(second, id, 1)).toEqual([{ type: 'event', id: next, event: 'y' }]);
});

it('readers of a log that was restored from a copy get a resync, since its ids may name other events', async () => {
  const path = await newPath();
  const first = folderEventLog({ path });
  await first.append('a', 'x', keep);
  await first.close();
  await cp(path, `${path}-copy`, { recursive: true });
  const id = await folderEventLog({ path }).append('a', 'lost', keep);
  await rename(path, `${path}-old`);
  await rename(`${path}-copy`, path);
  const restored = openFolder(path);
  await restored.append('a', 'other', keep);
  await restored.append('a', 'later', keep);
  expect(typesOf(await readItems(restored, id, 3))).toEqual(['resync', 'event', 'event']);
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

it('append and readers that wait throw after the folder was removed', async () => {
  const path = await newPath();
  const log = openFolder(path);
  const message = /events.*\.mdb was removed or replaced\. Restart all processes of the service\./;
  const pending = Promise.allSettled([readItems(log, undefined, 2)]);
  await log.append('b', 'x', keep);
  await rm(path, { recursive: true });
  await expect(log.append('a', 'x', keep)).rejects.toThrow(message);
  expect(await pending).toMatchObject([{ reason: { message: expect.stringMatching(message) } }]);
});

it('an append is rejected after 5 s while another process holds the lock, and never stored', async () => {
  const path = await newPath();
  const log = openFolder(path);
  await log.append('a', 'x', keep);
  const name = (await readdir(path)).find((each) => each.endsWith('.mdb')) ?? '';
  const program = `
    const { open } = await import('lmdb');
    open({ path: ${JSON.stringify(join(path, name))}, noSubdir: true }).transactionSync(() => {
      process.send('held');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const holder = fork('-', [], { execArgv: ['--input-type=module', '-e', program] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder, 'message');
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const late = log.append('a', 'late', keep);
  const settled = Promise.allSettled([late]);
  await vi.advanceTimersByTimeAsync(5000);
  const message = expect.stringContaining('has not completed a write for 5 s');
  expect(await settled).toMatchObject([{ reason: { message } }]);
  // Readers need no lock.
  expect(typesOf(await readItems(log, beginning, 1))).toEqual(['event']);
  holder.kill('SIGKILL');
  vi.useRealTimers();
  await log.append('a', 'y', keep);
  expect(await readItems(log, beginning, 2)).toMatchObject([{ event: 'x' }, { event: 'y' }]);
});
