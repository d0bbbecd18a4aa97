import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collect, keepAll, textsOf } from '../../../../shared/src/events/testing/collect.ts';
import { describeEventLog } from '../../../../shared/src/events/testing/eventLogContract.ts';
import { describeState } from '../../../../shared/src/state/testing/stateContract.ts';
import { Random } from '../../random.ts';
import { fakedTimers } from '../fakedTimers.ts';
import { SimulatedProcess } from '../simulatedProcess.ts';
import * as fs from './fs.ts';
import * as lmdb from './lmdb.ts';
import { mount, unmountAll } from './mounts.ts';
import { SimulatedDisk } from './simulatedDisk.ts';

// Other files of this process have imported, or import, the modules with the real disk.
vi.resetModules();
vi.doMock('lmdb', () => lmdb);
vi.doMock('node:fs', () => fs);
const { folderState } = await import('trpc-gateway-shared/state/folder');
const { folderEventLog } = await import('trpc-gateway-shared/events/folder');
vi.doUnmock('lmdb');
vi.doUnmock('node:fs');
vi.resetModules();

/** Returns a machine for a test: its disk, `start`, which starts a process of it, and what processes open. */
function openMachine(seed = Number(process.env['TEST_SEED'])) {
  const disk = new SimulatedDisk(new Random(seed));
  onTestFinished(unmountAll);
  let count = 0;
  const start = (): SimulatedProcess => {
    const started = new SimulatedProcess(`p${(count += 1)}`);
    mount(started, disk);
    return started;
  };
  const pathOf = ({ name }: SimulatedProcess) => ({ path: `/${name}/data` });
  return {
    disk,
    start,
    openState: (owner = start()) => folderState(pathOf(owner)),
    openLog: (owner = start()) => folderEventLog(pathOf(owner)),
  };
}

/** Closes what a test has opened at its end. */
function closed<T extends { close(): unknown }>(opened: T): T {
  onTestFinished(async () => void (await opened.close()));
  return opened;
}

describeState('in a folder of a simulated disk', async () => {
  const { openState } = openMachine();
  return { state: closed(openState()), reopen: async () => closed(openState()) };
});

describeEventLog('in a folder of a simulated disk', async () => {
  const { openLog } = openMachine();
  return { log: closed(openLog()), reopen: async () => closed(openLog()) };
});

const seeds = Array.from({ length: 12 }, (_, seed) => seed);

/** Runs the test in virtual time, in which no time passes while a transaction runs. */
function openVirtualMachine(seed?: number) {
  vi.useFakeTimers({ now: 1e12, toFake: [...fakedTimers] });
  onTestFinished(() => void vi.useRealTimers());
  return openMachine(seed);
}

/** Lets virtual time pass until a promise settles. @returns its value, or the message of its error */
async function settled(promise: unknown, ms = 100): Promise<unknown> {
  const outcome = Promise.resolve(promise).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(ms);
  return Promise.race([outcome, Promise.resolve('pending')]);
}

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
