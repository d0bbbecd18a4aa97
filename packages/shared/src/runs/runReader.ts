import type { EventLog } from '../events/eventLog.ts';
import { openProducer, type ProducerItem, type RunItem, type RunLog, type RunStart } from './runLog.ts';
import type { RunningRuns } from './runningRuns.ts';

/**
 * How a lost producer is found. While it has runs, it shows every 500 ms that it is alive. After `askTicks` without a sign of it,
 * each process that reads its runs reports them in its channel. The first report that comes back shows that the log can be
 * reached: if nothing of the producer follows until `lostTicks`, its runs are stopped as lost, in less than 2 s. Runs that it
 * names as unknown are stopped at once. A tick is one of the process that reads: while that is suspended or busy, there are none.
 */
const tickMs = 250;
const askTicks = 3;
const lostTicks = 6;

/** A run that is read in this process. */
interface ReadRun {
  readonly run: RunLog;
  /** The id of its first record. */
  readonly start: string;
  /** The tick before it. Its producer may have had no runs, and shown nothing, until then. */
  readonly joined: number;
  readers: number;
}

interface ReadOptions {
  readonly start: RunStart;
  /** The id after which to read. */
  readonly after: string;
  readonly signal: AbortSignal;
}

/**
 * Creates the function that reads runs. Meanwhile, their producers learn that they are read, and runs that have lost theirs are stopped.
 * @param reportMs how often producers in other processes learn it, in milliseconds
 */
export function createRunReader(log: EventLog, running: RunningRuns, reportMs: number) {
  const watches = new Map<string, ReturnType<typeof watchProducer>>();

  return async function* readRun(
    run: RunLog,
    { after, signal, start: { id, number, producer } }: ReadOptions,
  ): AsyncGenerator<RunItem, void, void> {
    const own = producer === running.producer ? running : undefined;
    const watch = watches.get(producer) ?? watchProducer(openProducer(log, producer), own, reportMs);
    watches.set(producer, watch);
    const leave = watch.join(number, run, id);
    try {
      yield* run.read(after, signal);
    } finally {
      leave();
      if (watch.closed.aborted && watches.get(producer) === watch) watches.delete(producer);
    }
  };
}

/** Watches a producer until its last reader here has left. @param own if the producer is in this process */
function watchProducer(
  channel: ReturnType<typeof openProducer>,
  own: RunningRuns | undefined,
  reportMs: number,
) {
  const runs = new Map<number, ReadRun>();
  const closed = new AbortController();
  let following: Promise<void> | undefined;
  let ticks = 0;
  let quietTicks = 0;
  let isReached = false;
  let isAppending = false;
  let reportAt = 0;
  const timer = setInterval(tick, tickMs).unref();

  function tick(): void {
    const numbers = [...runs.keys()];
    if (own) return stop(numbers.filter((number) => !own.keepRead(number)));
    // Not before: readers of a run that has ended have left by then.
    following ??= channel.follow(onItem, closed.signal);
    ticks += 1;
    quietTicks += 1;
    if (isReached && quietTicks >= lostTicks)
      stop(numbers.filter((number) => ticks - (runs.get(number)?.joined ?? ticks) >= lostTicks));
    else if (reportAt <= performance.now() || (!isReached && quietTicks >= askTicks))
      void append(async () => {
        reportAt = performance.now() + reportMs;
        await channel.append({ type: 'reading', runs: numbers });
      });
  }

  function onItem(item: ProducerItem): void {
    if (item.type === 'alive') {
      quietTicks = 0;
      isReached = false;
      stop(item.unknown.filter((number) => runs.has(number)));
    } else if (item.type === 'reading' && quietTicks >= askTicks && !isReached) {
      isReached = true;
      quietTicks = askTicks;
    }
  }

  /** Stops runs that nothing produces. */
  function stop(numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    void append(async () => {
      const stopRun = ({ run, start }: ReadRun) => run.append({ type: 'stop', reason: 'lost' }, start);
      await Promise.all(numbers.flatMap((number) => runs.get(number) ?? []).map(stopRun));
      await channel.append({ type: 'lost', runs: numbers });
      // Slow clients read it later.
      for (const number of numbers) runs.delete(number);
    });
  }

  /** Appends records, unless others are being appended: the next tick tries again. */
  async function append(records: () => Promise<void>): Promise<void> {
    if (isAppending) return;
    isAppending = true;
    await records().catch(() => {});
    isAppending = false;
  }

  return {
    closed: closed.signal,

    /** Adds a reader. @returns the function that removes it */
    join(number: number, run: RunLog, start: string): () => void {
      const read = runs.get(number) ?? { run, start, joined: ticks, readers: 0 };
      if (read.readers === 0) reportAt = 0;
      read.readers += 1;
      runs.set(number, read);
      return () => {
        read.readers -= 1;
        if (read.readers === 0 && runs.get(number) === read) runs.delete(number);
        if (runs.size > 0) return;
        clearInterval(timer);
        closed.abort();
      };
    },
  };
}
