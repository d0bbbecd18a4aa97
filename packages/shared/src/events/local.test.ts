import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { collectGarbage } from '@petstore/testing/collectGarbage';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { beginning, channelMemoryMs, type EventLog } from './eventLog.ts';
import { folderEventLog } from './folder.ts';
import { memoryEventLog } from './memory.ts';
import { describeEventLog, keepAll, TestReader } from './testing/eventLogContract.ts';

const brief = { events: 10, ms: 1000 };

const openMemory = async () => closed(memoryEventLog());
const openFolder = async () => closed(folderEventLog({ path: await temporaryFolder() }));

function closed(log: EventLog): EventLog {
  onTestFinished(() => log.close());
  return log;
}

/** Joins channels, one after the other. */
async function joinMany(log: EventLog, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const controller = new AbortController();
    for await (const item of log.read(`${'x'.repeat(1000)}${at}`, undefined, controller.signal)) {
      expect(item.type).toBe('joined');
      controller.abort();
    }
  }
}

describeEventLog('in memory', async () => {
  const log = await openMemory();
  return { log, reopen: async () => log };
});

it('a client that comes from another process, whose log is in memory, gets a resync', async () => {
  const [one, other] = [await openMemory(), await openMemory()];
  const id = await one.append('a', 'x', keepAll);
  await other.append('a', '1', keepAll);
  await other.append('a', '2', keepAll);
  expect(await new TestReader(other, 'a', id).texts(3)).toEqual(['(resync)', '1', '2']);
});

describe.each([
  ['in memory', openMemory],
  ['in a folder', openFolder],
])('the event log %s', (_where, open) => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** Appends to another channel, so that the log checks all channels. */
  async function sweep(log: EventLog): Promise<void> {
    for (let at = 0; at < 20; at += 1) await log.append('other', String(at), { events: 10, ms: 3_600_000 });
  }

  it('removes the events of a channel when their time has passed, and remembers for a day that they are missing', async () => {
    const log = await open();
    const first = await log.append('a', '1', brief);
    const last = await log.append('a', '2', brief);
    vi.advanceTimersByTime(1001);
    await sweep(log);
    for (const after of [first, beginning])
      expect(await new TestReader(log, 'a', after).texts(1)).toEqual(['(resync)']);
    vi.advanceTimersByTime(channelMemoryMs - 1);
    await sweep(log);
    const late = new TestReader(log, 'a', first);
    expect(await late.texts(1)).toEqual(['(resync)']);
    await log.append('a', '3', brief);
    expect(await late.texts(1)).toEqual(['3']);
    expect(await new TestReader(log, 'a', last).texts(1)).toEqual(['3']);
  });

  it('forgets a channel a day later: it begins again, and earlier ids get a resync', async () => {
    const log = await open();
    const id = await log.append('a', '1', brief);
    await log.append('a', '2', brief);
    vi.advanceTimersByTime(1001 + channelMemoryMs);
    await sweep(log);
    const [fresh, late] = [new TestReader(log, 'a', beginning), new TestReader(log, 'a', id)];
    expect([await fresh.texts(1), await late.texts(1)]).toEqual([['(joined)'], ['(resync)']]);
    await log.append('a', '3', brief);
    for (const reader of [fresh, late, new TestReader(log, 'a', beginning)])
      expect(await reader.texts(1)).toEqual(['3']);
  });

  it('gets no resync for a reader that has joined a channel after another one was forgotten', async () => {
    const log = await open();
    await log.append('a', '1', brief);
    vi.advanceTimersByTime(1001 + channelMemoryMs);
    await sweep(log);
    const readers = [new TestReader(log, 'new'), new TestReader(log, 'new', beginning)];
    for (const each of readers) expect(await each.texts(1)).toEqual(['(joined)']);
    await log.append('new', 'x', brief);
    for (const each of readers) expect(await each.texts(1)).toEqual(['x']);
  });
});

describe('readers of channels without events leave nothing in the log', () => {
  it('in memory', async () => {
    const log = await openMemory();
    await joinMany(log, 1000);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await joinMany(log, 20_000);
    collectGarbage();
    // Each name is 1,000 characters.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  });

  it('in a folder', async () => {
    const path = await temporaryFolder();
    const log = closed(folderEventLog({ path }));
    const name = (await readdir(path)).find((each) => each.endsWith('.mdb')) ?? '';
    const before = await stat(join(path, name));
    await joinMany(log, 1000);
    const after = await stat(join(path, name));
    expect([after.size, after.mtimeMs]).toEqual([before.size, before.mtimeMs]);
  });
});
