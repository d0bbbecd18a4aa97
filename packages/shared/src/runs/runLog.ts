import { setTimeout as sleep } from 'node:timers/promises';
import type { TRPCError } from '@trpc/server';
import { resyncErrors } from 'trpc-gateway/procedures';
import { parseId } from '../events/channelReader.ts';
import { beginning, type EventLog, type LogItem } from '../events/eventLog.ts';
import { closedError, unavailable, logTimeoutMs } from '../events/logErrors.ts';

export const stopReasons = ['failed', 'lost', 'duration', 'size', 'abandoned', 'shutdown'] as const;
export type StopReason = (typeof stopReasons)[number];

interface RunOrigin {
  /** The id of the producer: a process, or one of several `resumable` in it. */
  readonly producer: string;
  /** The number of the run at its producer. */
  readonly number: number;
}

export interface RunStart extends RunOrigin {
  /** The id of the first record. */
  readonly id: string;
}

/**
 * A record of a run, in a channel of its own. The first `start` names its producer; the first `end`, `stop` or `error` ends
 * it. `stop` is by the producer; with the reason `lost`, also by a reader.
 */
export type RunRecord =
  | ({ readonly type: 'start' } & RunOrigin)
  | { readonly type: 'end' }
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'stop'; readonly reason: StopReason; readonly message?: string }
  | { readonly type: 'error'; readonly code: TRPCError['code']; readonly message: string };

export interface RunItem {
  readonly id: string;
  /** `undefined` for a record to be ignored: the log was emptied, and it is of another run. */
  readonly record: RunRecord | undefined;
}

export type RunLog = ReturnType<typeof openRun>;

export function openRun(log: EventLog, channel: string, keepMs: number) {
  // The limits of a run limit the number of its records too.
  const keep = { events: Number.MAX_SAFE_INTEGER, ms: keepMs };
  return {
    /** Appends a record. @param known an id of the run: ignored if the log was emptied since then */
    append(record: RunRecord, known: string): Promise<string> {
      return log.append(channel, JSON.stringify({ epoch: parseId(known).epoch, ...record }), keep);
    },

    /** Reads records. @throws `RESYNC` where records are missing, and if the log is closed */
    async *read(after: string, signal: AbortSignal): AsyncGenerator<RunItem, void, void> {
      for await (const item of log.read(channel, after, signal)) {
        if (item.type !== 'event') throw resyncErrors.RESYNC({ data: { lastEventId: item.id } });
        // Written by `append`.
        const { epoch, ...record } = JSON.parse(item.event) as RunRecord & { readonly epoch?: string };
        yield { id: item.id, record: epoch === parseId(item.id).epoch ? record : undefined };
      }
      if (!signal.aborted) throw closedError();
    },

    /**
     * Returns the first record, appended if there is none: the first of several processes is the producer.
     * @param reserve called before the record is appended; it may throw
     * @throws `RESYNC` if the first record is no longer kept, and if the log is closed
     */
    async start(origin: RunOrigin, reserve: () => void): Promise<RunStart> {
      let isAppended = false;
      for await (const item of readAtOnce(log, channel)) {
        if (item.type === 'resync') throw resyncErrors.RESYNC({ data: { lastEventId: item.id } });
        // Written by `append`, or here.
        const record = item.type === 'event' ? (JSON.parse(item.event) as RunRecord) : undefined;
        if (record?.type === 'start')
          return { id: item.id, producer: record.producer, number: record.number };
        // A record before the first `start` is of a run that the log had before it was emptied.
        if (isAppended) continue;
        reserve();
        isAppended = true;
        await log.append(channel, JSON.stringify({ type: 'start', ...origin }), keep);
      }
      throw closedError();
    },
  };
}

/** Reads a channel from its beginning. @throws 503 if the log does not respond within `logTimeoutMs` */
async function* readAtOnce(log: EventLog, channel: string): AsyncGenerator<LogItem> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), logTimeoutMs);
  try {
    for await (const item of log.read(channel, beginning, waiting.signal)) {
      clearTimeout(timer);
      yield item;
    }
  } finally {
    clearTimeout(timer);
  }
  if (waiting.signal.aborted) throw unavailable(undefined);
}

/**
 * A record of a producer, whose runs share a channel and are named by their numbers.
 * - `alive`: by the producer, every 500 ms while it has runs. `unknown`: runs that it does not, or no longer, produce.
 * - `reading`: by another process, which reads these runs.
 * - `lost`: by another process, which has received nothing of the producer, and has stopped these runs.
 */
type ProducerRecord =
  | { readonly type: 'alive'; readonly unknown: readonly number[] }
  | { readonly type: 'reading' | 'lost'; readonly runs: readonly number[] };

export type ProducerItem = ProducerRecord | Exclude<LogItem, { type: 'event' }>;

/** How long the records of a producer are kept, in milliseconds: it misses none while it cannot read the log for this time. */
const producerKeepMs = 300_000;

/** How long to wait before the channel of a producer is read again after an error, in milliseconds. */
const retryMs = 250;

/** Opens the channel of a producer. */
export function openProducer(log: EventLog, producer: string) {
  // Names have no space, so that no key leads to it.
  const channel = `producer ${producer}`;
  const keep = { events: Number.MAX_SAFE_INTEGER, ms: producerKeepMs };
  return {
    append: (record: ProducerRecord): Promise<string> => log.append(channel, JSON.stringify(record), keep),

    /** Reads the records from now on, until the signal aborts. */
    async follow(onItem: (item: ProducerItem) => void, signal: AbortSignal): Promise<void> {
      let position: string | undefined;
      while (!signal.aborted) {
        try {
          for await (const item of log.read(channel, position, signal)) {
            position = item.id;
            // Written by `append`.
            onItem(item.type === 'event' ? (JSON.parse(item.event) as ProducerRecord) : item);
          }
        } catch {
          // While the log cannot be read, nothing is known of the producer, nor of its readers.
        }
        await sleep(retryMs, undefined, { ref: false, signal }).catch(() => {});
      }
    },
  };
}
