import { partsOf, type RunItem, type RunLog, type RunRecord } from './runLog.ts';

/**
 * A reader that has received nothing of the producer for `askTicks` reports that the run is read. When it has received that report,
 * or that of another reader, the log can be reached, and the producer is lost if nothing of it follows: in less than 2 s. Time is
 * counted in ticks, in milliseconds: while the process of the reader is suspended or busy, there are none.
 */
const tickMs = 250;
const askTicks = 3;
const lostTicks = 6;

/** Within which time one of the readers that join together reports that the run is read, in milliseconds. */
const firstReportMs = 1000;

interface ReadOptions {
  /** The newest position in the log when the reader joined. */
  readonly joined: string;
  /** The id after which to read. */
  readonly after: string;
  readonly signal: AbortSignal;
  /** How often a reader reports that the run is read, in milliseconds. */
  readonly reportMs: number;
}

/** Reads a run. Meanwhile, it reports that the run is read, unless another reader does, and stops the run if the producer is lost. */
export async function* readRun(
  run: RunLog,
  { after, joined, reportMs, signal }: ReadOptions,
): AsyncGenerator<RunItem, void, void> {
  let isWaiting = true;
  let isReached = false;
  let isAppending = false;
  let quietTicks = 0;
  let report: NodeJS.Timeout | undefined;
  const ticks = setInterval(tick, tickMs).unref();

  function tick(): void {
    // While the client is slow, the producer is not: nothing is received.
    quietTicks = isWaiting ? quietTicks + 1 : 0;
    if (isAppending) return;
    if (isReached && quietTicks >= lostTicks) void append({ type: 'stop', reason: 'lost' });
    else if (!isReached && quietTicks >= askTicks) reportWithin(tickMs);
  }

  async function append(record: RunRecord): Promise<void> {
    isAppending = true;
    await run.append(record, joined).catch(() => {});
    isAppending = false;
  }

  /** Reports at a random time, so that of many readers one is first. */
  function reportWithin(ms: number): void {
    clearTimeout(report);
    const appendReport = () => {
      reportWithin(reportMs);
      void append({ type: 'reading' });
    };
    report = setTimeout(appendReport, ms * (0.5 + Math.random() / 2)).unref();
  }

  reportWithin(Math.min(firstReportMs, reportMs));
  try {
    for await (const item of run.read(after, signal)) {
      if (item.record?.type !== 'reading') {
        quietTicks = 0;
        isReached = false;
      } else if (partsOf(item.id).sequence > partsOf(joined).sequence) {
        // One report is enough for all readers.
        reportWithin(reportMs);
        if (!isReached) {
          isReached = quietTicks >= askTicks;
          quietTicks = Math.min(quietTicks, askTicks);
        }
      }
      isWaiting = false;
      yield item;
      isWaiting = true;
    }
  } finally {
    clearInterval(ticks);
    clearTimeout(report);
  }
}
