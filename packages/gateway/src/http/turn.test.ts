import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Turn } from './turn.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A turn, and a clock that only moves when a test moves it. The processor is busy except for `pausedMs`. */
function createTurn() {
  const clock = { ms: 1000, pausedMs: 0 };
  const readClock = vi.spyOn(performance, 'now').mockImplementation(() => clock.ms);
  vi.spyOn(process, 'cpuUsage').mockImplementation(() => ({
    user: (clock.ms - clock.pausedMs) * 1000,
    system: 0,
  }));
  return { turn: new Turn(), clock, readClock };
}

/** Spends the budget with requests that take `ms` each. Returns how many fit into the turn, at most `most`. */
function spendAll(
  { turn, clock }: Pick<ReturnType<typeof createTurn>, 'turn' | 'clock'>,
  ms: number,
  most = 2000,
): number {
  for (let count = 1; count <= most; count += 1) {
    if (turn.spend()) return count - 1;
    clock.ms += ms;
  }
  return most;
}

it('a message that takes 200 ms leaves no room for a second one, also after fast ones in earlier turns', async () => {
  for (let fast = 0; fast <= 70; fast += 1) {
    const turns = createTurn();
    for (let count = 0; count < fast; count += 1) {
      turns.turn.spend();
      turns.clock.ms += 0.02;
      if (count % 7 === 0) await nextTurn();
    }
    await nextTurn();
    expect(turns.turn.spend()).toBe(false);
    turns.clock.ms += 200;
    expect(turns.turn.spend(), `after ${fast}`).toBe(true);
  }
});

it.each([
  ['no time', 0, 500, 500],
  ['20 µs', 0.02, 500, 500],
  ['1 ms', 1, 21, 90],
  ['10 ms', 10, 3, 7],
  ['1 s', 1000, 1, 1],
])('a turn has room for requests that take %s each', (_what, ms, least, most) => {
  const count = spendAll(createTurn(), ms);
  expect(count).toBeGreaterThanOrEqual(least);
  expect(count).toBeLessThanOrEqual(most);
});

it('the next turn has a budget of its own', async () => {
  const turns = createTurn();
  for (let round = 0; round < 3; round += 1) {
    expect(spendAll(turns, 0)).toBe(500);
    expect(turns.turn.spend()).toBe(true);
    await nextTurn();
  }
});

it('requests that arrive one per turn never spend its budget, however slow they are', async () => {
  const { turn, clock } = createTurn();
  for (let count = 0; count < 100; count += 1) {
    expect(turn.spend()).toBe(false);
    clock.ms += 100;
    // As the clock says, some time has passed: timers have run.
    await sleep(10);
  }
});

it('a pause of the process between two requests does not spend the budget of a turn', () => {
  const turns = createTurn();
  expect(spendAll(turns, 0.01, 100)).toBe(100);
  turns.clock.ms += 5000;
  turns.clock.pausedMs += 5000;
  expect(spendAll(turns, 0.01, 300)).toBe(300);
  expect(spendAll(turns, 10)).toBeLessThanOrEqual(3);
});

it('Turn.later runs tasks in order, in slices that fit into a turn', async () => {
  const { turn, clock } = createTurn();
  const run: number[] = [];
  for (let at = 0; at < 50; at += 1) {
    turn.later(() => {
      run.push(at);
      clock.ms += 5;
    });
  }
  expect(run).toEqual([]);
  let turns = 0;
  for (; run.length < 50; turns += 1) {
    const before = run.length;
    await nextTurn();
    expect(run.length - before).toBeLessThanOrEqual(8);
    // What arrives in the meantime has a budget of its own.
    expect(turn.spend()).toBe(false);
  }
  expect(turns).toBeGreaterThanOrEqual(7);
  expect(run).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

it('tasks that tasks of a turn add run after those that wait', async () => {
  const { turn, clock } = createTurn();
  const run: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    turn.later(() => {
      run.push(name);
      turn.later(() => run.push(`${name}2`));
      clock.ms += 30;
    });
  }
  while (run.length < 6) {
    await nextTurn();
  }
  expect(run).toEqual(['a', 'b', 'c', 'a2', 'b2', 'c2']);
});

it('a task of a turn that throws does not stop those after it', async () => {
  const { turn } = createTurn();
  const error = new Error('of a task');
  const reported = Promise.withResolvers<unknown>();
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', reported.resolve);
  const ran = Promise.withResolvers<void>();
  turn.later(() => {
    throw error;
  });
  turn.later(ran.resolve);
  expect(await reported.promise).toBe(error);
  for (const listener of listeners) process.on('uncaughtException', listener);
  await ran.promise;
});
