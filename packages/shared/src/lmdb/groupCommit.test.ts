import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CommitFile, GroupCommit } from './groupCommit.ts';

const timeoutMs = 5000;

/** Creates a group commit whose transactions run their jobs at once and take `transactionMs` to be on disk. */
function slowCommits(transactionMs: number, file: Partial<CommitFile> = {}): GroupCommit {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return new GroupCommit(
    {
      check: () => undefined,
      async transact(runJobs) {
        runJobs();
        await new Promise((resolve) => setTimeout(resolve, transactionMs));
      },
      ...file,
    },
    { timeoutMs, notStarted: () => new Error('not started'), started: () => new Error('may be stored') },
  );
}

interface Outcome {
  readonly value: unknown;
  readonly afterMs: number;
}

/** Returns the outcome of a write: its result or the message of its error, and the time it took. */
async function outcome(write: Promise<unknown>): Promise<Outcome> {
  const start = performance.now();
  const value = await write.catch((error: unknown) => (error instanceof Error ? error.message : error));
  return { value, afterMs: performance.now() - start };
}

/** A job that takes as long as a transaction accepts jobs, so that it is the only one of its transaction. */
function lone(ran: number[], index: number): number {
  ran.push(index);
  vi.advanceTimersByTime(5);
  return index;
}

describe('a time limit for each job', () => {
  test('rejects a job that has waited too long behind slow transactions, and never runs it', async () => {
    const commits = slowCommits(2000);
    const ran: number[] = [];
    const writes = [0, 1, 2, 3, 4].map((index) => outcome(commits.write(() => lone(ran, index))));
    await vi.advanceTimersByTimeAsync(20_000);
    const outcomes = await Promise.all(writes);
    expect(ran).toEqual([0, 1, 2]);
    expect(outcomes.map(({ value }) => value)).toEqual([0, 1, 'may be stored', 'not started', 'not started']);
    for (const { afterMs } of outcomes.slice(2)) {
      expect(afterMs).toBeGreaterThanOrEqual(timeoutMs);
      expect(afterMs).toBeLessThanOrEqual(timeoutMs * 1.1);
    }
  });

  test('never runs a job that is too old when its transaction begins, even before a timer has fired', async () => {
    let begin: (() => void) | undefined;
    const commits = slowCommits(0, {
      check: () => new Promise((resolve) => void (begin = resolve)),
    });
    const ran: number[] = [];
    const write = outcome(commits.write(() => ran.push(0)));
    // A blocked event loop: time passes, and no timer fires.
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + timeoutMs);
    begin?.();
    await vi.advanceTimersByTimeAsync(1);
    expect((await write).value).toBe('not started');
    expect(ran).toEqual([]);
    now.mockRestore();
  });

  test('gives each job of a transaction that hangs its whole time, and is stuck from the first until the transaction ends', async () => {
    const commits = slowCommits(20_000);
    const first = outcome(commits.write(() => 0));
    await vi.advanceTimersByTimeAsync(timeoutMs - 10);
    const second = outcome(commits.write(() => 1));
    expect(commits.stuck).toBeUndefined();
    await vi.advanceTimersByTimeAsync(10);
    expect(commits.stuck).toMatchObject({ message: 'not started' });
    await vi.advanceTimersByTimeAsync(timeoutMs * 2);
    expect((await first).value).toBe('may be stored');
    const { value, afterMs } = await second;
    expect(value).toBe('not started');
    expect(afterMs).toBeGreaterThanOrEqual(timeoutMs);
    expect(afterMs).toBeLessThanOrEqual(timeoutMs * 1.1);
    await vi.advanceTimersByTimeAsync(timeoutMs);
    expect(commits.stuck).toBeUndefined();
  });

  test('does not keep a process alive whose disk hangs', async () => {
    const script = `
      import { GroupCommit } from ${JSON.stringify(new URL('groupCommit.ts', import.meta.url).href)};
      const file = { check() {}, transact: () => new Promise(() => {}) };
      const timeout = { timeoutMs: 2000, notStarted: () => new Error('timed out') };
      new GroupCommit(file, timeout).write(() => 1);
    `;
    // If the timer kept it alive, it would end with the error.
    const ended = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    await expect(ended).resolves.toMatchObject({ stdout: '' });
  });
});

test('jobs that wait share a transaction, and jobs in sequence have one each', async () => {
  let transactions = 0;
  const commits = slowCommits(0, {
    async transact(runJobs) {
      transactions += 1;
      runJobs();
    },
  });
  await Promise.all(Array.from({ length: 500 }, () => commits.write(() => 0)));
  expect(transactions).toBe(1);
  for (let count = 0; count < 10; count += 1) await commits.write(() => 0);
  expect(transactions).toBe(11);
});

test('a write whose transaction cannot begin is rejected, and later writes still run', async () => {
  let failures = 1;
  const commits = slowCommits(0, {
    check() {
      if (failures-- > 0) throw new Error('disk error');
    },
  });
  const writes = [outcome(commits.write(() => 0)), outcome(commits.write(() => 1))];
  await vi.advanceTimersByTimeAsync(1);
  expect(await Promise.all(writes)).toMatchObject([{ value: 'disk error' }, { value: 'disk error' }]);
  const later = commits.write(() => 2);
  await vi.advanceTimersByTimeAsync(1);
  expect(await later).toBe(2);
});

test('if toError throws, the jobs of the transaction get its cause, and later writes still run', async () => {
  let failures = 1;
  const commits = new GroupCommit(
    {
      check: () => undefined,
      async transact(runJobs) {
        runJobs();
        if (failures-- > 0) throw new Error('disk error');
      },
      async toError() {
        throw new Error('error of toError');
      },
    },
    { timeoutMs, notStarted: () => new Error('not started') },
  );
  await expect(commits.write(() => 0)).rejects.toThrow('disk error');
  expect(await Promise.race([commits.write(() => 1), sleep(1000, 'hangs', { ref: false })])).toBe(1);
  await commits.idle();
});
