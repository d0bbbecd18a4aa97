import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collect, keepAll, textsOf } from '../../../../shared/src/events/testing/collect.ts';
import { openMachine } from './testing/machine.ts';

const seeds = Array.from({ length: 12 }, (_, seed) => seed);

/** Runs the test in virtual time, in which no time passes while a transaction runs. */
function openVirtualMachine(seed?: number) {
  vi.useFakeTimers({
    now: 1e12,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'Date',
      'performance',
    ],
  });
  onTestFinished(() => void vi.useRealTimers());
  const { folderEventLog, folderState, ...machine } = openMachine(seed);
  return {
    ...machine,
    openState: (process = machine.start()) => folderState({ path: `/${process.name}/data` }),
    openLog: (process = machine.start()) => folderEventLog({ path: `/${process.name}/data` }),
  };
}

/** Lets virtual time pass until a promise settles. @returns its value, or the message of its error */
async function settled(promise: unknown, ms = 100): Promise<unknown> {
  const outcome = Promise.resolve(promise).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([outcome, Promise.resolve('pending')]);
}

const isGone = /was removed or replaced/;

describe('the folder of a log or state', () => {
  it.each(seeds)(
    'a log with the inode number of a removed one gives its readers a resync: seed %i',
    async (seed) => {
      const { disk, openLog } = openVirtualMachine(seed);
      const removed = openLog();
      const lost = String(await settled(removed.append('a', 'lost', keepAll)));
      await settled(removed.close());
      disk.remove('/data');
      const log = openLog();
      await settled(Promise.all(['other', 'later'].map((event) => log.append('a', event, keepAll))));
      const items = collect(log, 'a', lost);
      await vi.advanceTimersByTimeAsync(10);
      expect(textsOf(items)).toEqual(['(resync)', 'other', 'later']);
    },
  );

  it('an open file that is removed keeps its inode number, and its processes learn that it is gone', async () => {
    for (const seed of seeds) {
      const { disk, openLog, openState } = openVirtualMachine(seed);
      const [state, log] = [openState(), openLog()];
      const reading = log.read('a', undefined, new AbortController().signal)[Symbol.asyncIterator]();
      // oxlint-disable no-await-in-loop -- one after the other
      await settled(reading.next());
      const pending = reading.next().catch((error: Error) => error.message);
      disk.remove('/data');
      expect(await settled(pending)).toMatch(isGone);
      const next = openState();
      expect(await settled(next.add('a', 'first', 1e6))).toBeUndefined();
      expect(await settled(state.add('a', 'second', 1e6))).toMatch(isGone);
      expect(await settled(log.append('a', 'second', keepAll))).toMatch(isGone);
      // oxlint-enable no-await-in-loop
    }
  });

  it.each(['takes its place', 'is written over it'])(
    'a log of which an older copy %s gives a resync to readers of lost events',
    async (how) => {
      const { disk, openLog } = openVirtualMachine();
      const first = openLog();
      await settled(first.append('a', 'kept', keepAll));
      const copies = disk.backUp('/data');
      const lost = String(await settled(first.append('a', 'lost', keepAll)));
      expect(() => disk.restore(copies)).toThrow('is open');
      await settled(first.close());
      if (how === 'takes its place') for (const path of copies.keys()) disk.remove(path);
      disk.restore(copies);
      const log = openLog();
      const ids = await settled(
        Promise.all(['other', 'later'].map((event) => log.append('a', event, keepAll))),
      );
      const items = collect(log, 'a', lost);
      await vi.advanceTimersByTimeAsync(10);
      expect(ids).not.toContain(lost);
      expect(textsOf(items).filter((each) => each !== 'kept')).toEqual(['(resync)', 'other', 'later']);
    },
  );
});

describe('processes', () => {
  it.each(seeds)(
    'a process gets each event of another one, also if it reads before the commit is visible: seed %i',
    async (seed) => {
      const { openLog } = openVirtualMachine(seed);
      const log = openLog();
      const items = collect(openLog(), 'a');
      for (const event of ['1', '2', '3']) {
        // oxlint-disable-next-line no-await-in-loop -- one event after the other
        await settled(log.append('a', event, keepAll));
        expect(textsOf(items).at(-1)).toBe(event);
      }
    },
  );

  it('a process that is more than 1,000 changes behind gets the event after them', async () => {
    const { openLog } = openVirtualMachine();
    const log = openLog();
    const items = collect(openLog(), 'a');
    await vi.advanceTimersByTimeAsync(10);
    const events = Array.from({ length: 1001 }, (_, at) =>
      log.append(at === 1000 ? 'a' : 'c', `${at}`, keepAll),
    );
    await settled(Promise.all(events));
    expect(textsOf(items)).toEqual(['(joined)', '1000']);
  });

  it.each(seeds)(
    'a process that is killed has stored its value or not, and its call never succeeds: seed %i',
    async (seed) => {
      const { openState, start } = openVirtualMachine(seed);
      const killed = start();
      const call = openState(killed).add('a', 'first', 1e6);
      await vi.advanceTimersByTimeAsync(seed % 3);
      const isAcknowledged = (await settled(call, 0)) === undefined;
      killed.kill();
      const found = await settled(openState().add('a', 'second', 1e6));
      expect(isAcknowledged ? ['first'] : [undefined, 'first']).toContain(found);
      // The memory of a dead process goes on in the simulation: its own timers let it give up.
      expect((await settled(call, 60_000)) === undefined).toBe(isAcknowledged);
    },
  );

  it('the processes of a machine take no more tokens than there are', () => {
    const { openState } = openVirtualMachine();
    const states = [openState(), openState()];
    const bucket = { size: 10, windowMs: 1e6 };
    const taken = Array.from({ length: 30 }, (_, at) => states[at % 2]?.take('a', 1, bucket));
    expect(taken.filter((each) => each && 'isTaken' in each && each.isTaken)).toHaveLength(10);
  });
});

it('the same seed gives the same history', async () => {
  const history = async (seed: number) => {
    const { openLog, openState, start } = openVirtualMachine(seed);
    const lines: string[] = [];
    const note = (what: unknown) => lines.push(`${performance.now()} ${JSON.stringify(what)}`);
    for (const name of [start(), start()]) {
      const [log, state] = [openLog(name), openState(name)];
      for (let at = 0; at < 5; at += 1) {
        void log.append('a', `${at}`, keepAll).then(note);
        void Promise.resolve(state.add(`${at}`, name.name, 1e6)).then(note);
      }
    }
    await vi.advanceTimersByTimeAsync(100);
    return lines;
  };
  const first = await history(1);
  expect(first).toHaveLength(20);
  expect(await history(1)).toEqual(first);
  expect(await history(2)).not.toEqual(first);
});

describe('a disk', () => {
  it('that is frozen for more than 5 s lets all writes that wait fail, which are then never stored', async () => {
    const { disk, openState } = openVirtualMachine();
    const state = openState();
    disk.faults.freeze();
    const started = state.add('a', 'first', 1e6);
    await vi.advanceTimersByTimeAsync(10);
    const waiting = state.add('b', 'first', 1e6);
    expect(await settled(Promise.allSettled([started, waiting]), 6000)).toMatchObject([
      { status: 'rejected' },
      { reason: { message: expect.stringContaining('has not completed a write for 5 s') } },
    ]);
    disk.faults.thaw();
    expect(await settled(state.add('b', 'second', 1e6))).toBeUndefined();
    expect(await settled(state.add('a', 'second', 1e6))).toBe('first');
  });

  it.each(['full', 'failing'] as const)(
    'that is %s stores nothing, and works again afterwards',
    async (fault) => {
      for (const seed of seeds) {
        const { disk, openLog, openState } = openVirtualMachine(seed);
        const [state, log] = [openState(), openLog()];
        const bucket = { size: 1, windowMs: 1e6 };
        const message = fault === 'full' ? 'No space left on device' : 'Input/output error';
        disk.faults[fault] = true;
        expect(() => state.take('a', 1, bucket)).toThrow(message);
        // oxlint-disable no-await-in-loop -- one after the other
        expect(await settled(state.add('a', 'first', 1e6))).toBe(message);
        expect(await settled(log.append('a', 'first', keepAll))).toBe(message);
        disk.faults[fault] = false;
        expect(await settled(state.add('a', 'second', 1e6))).toBeUndefined();
        expect(await settled(log.append('a', 'second', keepAll))).toMatch(/-1$/);
        expect(state.take('a', 1, bucket)).toMatchObject({ isTaken: true });
        // oxlint-enable no-await-in-loop
      }
    },
  );

  it.each(seeds)(
    'whose machine crashes keeps values, and its events are lost with a resync: seed %i',
    async (seed) => {
      const { disk, openLog, openState, start } = openVirtualMachine(seed);
      const killed = start();
      const [state, log] = [openState(killed), openLog(killed)];
      await settled(state.add('a', 'first', 1e6));
      const lost = String(await settled(log.append('a', 'lost', keepAll)));
      disk.crash();
      expect(killed.isAlive).toBe(false);
      expect(await settled(openState().add('a', 'second', 1e6))).toBe('first');
      const next = openLog();
      await settled(Promise.all(['other', 'later'].map((event) => next.append('a', event, keepAll))));
      const items = collect(next, 'a', lost);
      await vi.advanceTimersByTimeAsync(10);
      expect(textsOf(items)).toEqual(['(resync)', 'other', 'later']);
      expect(disk.names('/data').filter((name) => /^events.*mdb$/.test(name))).toHaveLength(1);
    },
  );
});
