import type { TRPCError } from '@trpc/server';
import { resyncErrors } from 'trpc-gateway/procedures';
import { closedError, unavailable, waitMs } from './eventChannel.ts';
import { beginning, type EventLog, type LogItem } from './eventLog.ts';

export const stopReasons = ['failed', 'lost', 'duration', 'size', 'abandoned', 'shutdown'] as const;
export type StopReason = (typeof stopReasons)[number];

/**
 * A record of a run, which has a channel of its own. The process that has appended the first `start` is the producer.
 * The run ends with the first `end`, `stop` or `error`.
 *
 * - `alive`: the producer has appended nothing else for a time.
 * - `reading`: the run has readers.
 * - `stop`: by the producer; with the reason `lost`, by a reader.
 */
export type RunRecord =
  | { readonly type: 'start' | 'alive' | 'reading' | 'end' }
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'stop'; readonly reason: StopReason }
  | { readonly type: 'error'; readonly code: TRPCError['code']; readonly message: string };

export interface RunItem {
  readonly id: string;
  /** `undefined` for a record to be ignored: the log was emptied, and it is of another run. */
  readonly record: RunRecord | undefined;
}

export type RunLog = ReturnType<typeof openRun>;

/** Opens the channel of a run. */
export function openRun(log: EventLog, channel: string, keepMs: number) {
  // The limits of a run limit the number of its records too.
  const keep = { events: Number.MAX_SAFE_INTEGER, ms: keepMs };
  return {
    /**
     * Appends a record.
     * @param known an id of the run. If the log was emptied since then, the record is ignored
     */
    append(record: RunRecord, known: string): Promise<string> {
      return log.append(channel, JSON.stringify({ epoch: partsOf(known).epoch, ...record }), keep);
    },

    /**
     * Reads records.
     * @throws `RESYNC` where records are missing, and if the log is closed
     */
    async *read(after: string, signal: AbortSignal): AsyncGenerator<RunItem, void, void> {
      for await (const item of log.read(channel, after, signal)) {
        if (item.type !== 'event') throw resyncErrors.RESYNC({ data: { lastEventId: item.id } });
        // Written by `append`.
        const { epoch, ...record } = JSON.parse(item.event) as RunRecord & { readonly epoch?: string };
        yield { id: item.id, record: epoch === partsOf(item.id).epoch ? record : undefined };
      }
      if (!signal.aborted) throw closedError();
    },

    /** Returns a position in the log after all that has been appended. */
    async newestId(): Promise<string> {
      for await (const { id } of readAtOnce(log, channel, undefined)) return id;
      throw closedError();
    },

    /**
     * Returns the id of the first record, and appends it if the run has none. Of several processes that start a run at the same
     * time, the first one is its producer.
     * @returns whether the record is one of this call
     * @throws `RESYNC` if the first record is no longer kept, and if the log is closed
     */
    async start(): Promise<{ readonly id: string; readonly isOwn: boolean }> {
      let own: string | undefined;
      for await (const item of readAtOnce(log, channel, beginning)) {
        if (item.type === 'resync') throw resyncErrors.RESYNC({ data: { lastEventId: item.id } });
        if (item.type === 'event' && (JSON.parse(item.event) as RunRecord).type === 'start')
          return { id: item.id, isOwn: item.id === own };
        // A record before the first `start` is of a run that the log had before it was emptied.
        own ??= await log.append(channel, JSON.stringify({ type: 'start' }), keep);
      }
      throw closedError();
    },
  };
}

/** Reads a channel. @throws 503 if the log does not respond within `waitMs` */
async function* readAtOnce(
  log: EventLog,
  channel: string,
  after: string | undefined,
): AsyncGenerator<LogItem> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), waitMs);
  try {
    for await (const item of log.read(channel, after, waiting.signal)) {
      clearTimeout(timer);
      yield item;
    }
  } finally {
    clearTimeout(timer);
  }
  if (waiting.signal.aborted) throw unavailable(undefined);
}

/** Returns the parts of an id of the log. */
export function partsOf(id: string): { readonly epoch: string; readonly sequence: number } {
  const [epoch = '', sequence] = id.split('-');
  return { epoch, sequence: Number(sequence) };
}
