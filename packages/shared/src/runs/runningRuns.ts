import { randomUUID } from 'node:crypto';
import { LimitError } from 'trpc-gateway/procedures';
import type { EventLog } from '../events/eventLog.ts';
import type { ResumableOptions } from './resumableOptions.ts';
import { openProducer, type ProducerItem, type StopReason } from './runLog.ts';

/** How often a producer shows that it is alive, and stops the runs whose time is over, in milliseconds. */
const tickMs = 500;

/** After how long a client may begin another run, in seconds. */
const retryAfterSeconds = 5;

interface RunningRun {
  readonly caller: string;
  readonly stop: (reason: StopReason) => void;
  /** When the run is stopped, by `performance.now()`. */
  readonly tooLongAt: number;
  /** When it is stopped unless it is read until then. */
  abandonedAt: number;
}

type RunLimits = Required<
  Pick<ResumableOptions<unknown>, 'abandonedMs' | 'maxDurationMs' | 'maxRuns' | 'maxRunsPerCaller' | 'name'>
>;

export type RunningRuns = ReturnType<typeof createRunningRuns>;

/** The runs that this process produces or is about to. All of them share one timer and one channel of the log. */
export function createRunningRuns(log: EventLog, limits: RunLimits) {
  const { abandonedMs, maxDurationMs, maxRuns, maxRunsPerCaller, name } = limits;
  const producer = randomUUID();
  const channel = openProducer(log, producer);
  const runs = new Map<number, RunningRun>();
  /** Runs that are not, or no longer, in `runs`, and whose readers may not know that. */
  const unknown = new Set<number>();
  let newest = 0;
  let timer: NodeJS.Timeout | undefined;
  let tickedAt = 0;
  let following = new AbortController();

  function tick(): void {
    const now = performance.now();
    // While the process was suspended or busy, nobody could say that a run is read.
    const pausedMs = Math.max(0, now - tickedAt - tickMs);
    tickedAt = now;
    for (const run of runs.values()) {
      run.abandonedAt += pausedMs;
      if (run.tooLongAt <= now) run.stop('duration');
      else if (run.abandonedAt <= now) run.stop('abandoned');
    }
    const reported = [...unknown];
    const forget = () => reported.forEach((number) => unknown.delete(number));
    channel.append({ type: 'alive', unknown: reported }).then(forget, () => {});
  }

  function onItem(item: ProducerItem): void {
    if (item.type === 'reading') {
      for (const number of item.runs) if (!keepRead(number)) unknown.add(number);
    } else if (item.type === 'lost') {
      for (const number of item.runs) runs.get(number)?.stop('lost');
    }
    // What is missing may say that they are lost.
    else if (item.type === 'resync') stopAll('lost');
  }

  function keepRead(number: number): boolean {
    const run = runs.get(number);
    if (run) run.abandonedAt = performance.now() + abandonedMs;
    return run !== undefined;
  }

  function stopAll(reason: StopReason): void {
    for (const { stop } of runs.values()) stop(reason);
  }

  function checkLimits(caller: string): void {
    if (runs.size >= maxRuns) {
      const message = `The service is at its limit of ${maxRuns} concurrent runs of "${name}". Try again later.`;
      throw new LimitError('runs', { code: 'SERVICE_UNAVAILABLE', message, retryAfterSeconds });
    }
    const own = Array.from(runs.values()).filter((run) => run.caller === caller);
    if (own.length < maxRunsPerCaller) return;
    const message = `You are at your limit of ${maxRunsPerCaller} concurrent runs of "${name}". Try again when one of them has ended.`;
    throw new LimitError('caller-runs', { code: 'TOO_MANY_REQUESTS', message, retryAfterSeconds });
  }

  return {
    producer,

    /** Returns a number for a run that may be added. */
    nextNumber: (): number => (newest += 1),

    /** @throws {LimitError} if there are too many runs */
    add(number: number, caller: string, stop: RunningRun['stop']): void {
      checkLimits(caller);
      const now = performance.now();
      runs.set(number, { caller, stop, tooLongAt: now + maxDurationMs, abandonedAt: now + abandonedMs });
      if (runs.size > 1) return;
      tickedAt = now;
      timer = setInterval(tick, tickMs).unref();
      following = new AbortController();
      void channel.follow(onItem, following.signal);
    },

    remove(number: number): void {
      if (!runs.delete(number)) return;
      unknown.add(number);
      if (runs.size > 0) return;
      unknown.clear();
      clearInterval(timer);
      following.abort();
    },

    /** Keeps a run from being abandoned. @returns whether this process produces it */
    keepRead,
    stopAll,
  };
}
