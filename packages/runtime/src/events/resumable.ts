import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tracked, TRPCError, type TrackedEnvelope } from '@trpc/server';
import { declareErrors, resyncErrors } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { checkName, closedError, type EventSchema } from './eventChannel.ts';
import { beginning, type EventLog, type LogItem, type Retention } from './eventLog.ts';
import { ProducerWatch } from './producerWatch.ts';

export interface ResumableOptions<Event> {
  /** Where the events are kept. Clients can come back to any process that shares it. */
  readonly log: EventLog;
  /** Distinguishes the runs from the channels and runs of other names in the log: 1 to 100 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  /** The schema of the events. */
  readonly event: EventSchema<Event>;
  /** Called with anything but a `TRPCError` that a producer throws, for your log: clients only receive the reason `failed`. */
  readonly onError: (error: unknown, key: string) => void;
  /** How long a run may take, in milliseconds. Default: 5 minutes. */
  readonly maxDurationMs?: number;
  /** The size of all events of a run, in characters of JSON. Default: 1,048,576. */
  readonly maxSize?: number;
  /** A run is stopped when no client has read it for this time, in milliseconds. Default: 30,000. */
  readonly abandonedMs?: number;
  /** How long a run can be read after its end, in milliseconds. Default: 10 minutes. */
  readonly keepMs?: number;
}

export interface JoinOptions<Event> {
  /** The id of the last event that the client has received: the input property `lastEventId` of the procedure. */
  readonly lastEventId?: string | null | undefined;
  /** The signal of the procedure. It ends the reading, not the run. */
  readonly signal: AbortSignal | undefined;
  /**
   * Produces the events. It is called if no process has begun a run with this key. It goes on while clients come and go.
   * @param signal aborted when the run is stopped: pass it to the model or database that is called
   */
  readonly produce: (signal: AbortSignal) => AsyncIterable<Event>;
}

/** Subscriptions that outlive their connections. */
export interface Resumable<Event> {
  /**
   * Begins the run of a key, or joins it: all clients get all its events, from the first or the one after `lastEventId`, then its end or
   * error. A run is found again until `keepMs` after its end, and its key is used up for a day longer (the error `RESYNC`).
   *
   * Who knows the key can read the run: let it contain the id of the user, or check in the procedure that the caller may join.
   * @throws `RUN_STOPPED`, `RESYNC`, a `TRPCError` of the producer; also the iterable does
   */
  join(key: string, options: JoinOptions<Event>): Promise<AsyncIterable<TrackedEnvelope<Event>, void, void>>;

  /** Stops the runs of this process, whose clients get the reason `shutdown`. Call it before the log is closed. */
  close(): Promise<void>;
}

const stopReasons = ['failed', 'lost', 'duration', 'size', 'abandoned', 'shutdown'] as const;
type StopReason = (typeof stopReasons)[number];

/** Declares the errors of `Resumable.join`. Add them with `.errors(runErrors)`, and `resyncErrors` beside them. */
export const runErrors = declareErrors({
  RUN_STOPPED: {
    status: 409,
    message: 'The run was stopped before its end. Begin another one with a new key.',
    data: z.object({
      reason: z.enum(stopReasons).meta({
        description:
          'failed: an unexpected error; lost: its process has ended; duration, size: it was too long; abandoned: no client has read it; shutdown: the service was stopped.',
      }),
    }),
  },
});

/** A record of a run in the log. The first `start` counts. The run ends with the first `end`, `stop` or `error`. */
type RunRecord =
  | { readonly type: 'start'; readonly run: string; readonly process: string }
  | { readonly type: 'event'; readonly event: unknown }
  | { readonly type: 'end' }
  | { readonly type: 'stop'; readonly reason: StopReason }
  | { readonly type: 'error'; readonly code: TRPCError['code']; readonly message: string };

/**
 * Creates subscriptions whose producer runs once, apart from the connections of its clients: an answer of a model that goes on while a
 * page is reloaded, and that several tabs read.
 *
 * ```ts
 * const answers = resumable({ log, name: 'answers', event: z.string(), onError: (error) => logger.error(error) });
 * answer: t.procedure
 *   .input(z.object({ id: z.uuid(), question: z.string(), lastEventId: z.string().optional() }))
 *   .errors(runErrors)
 *   .subscription(({ ctx, input: { id, lastEventId, question }, signal }) =>
 *     answers.join(`${ctx.user.id}:${id}`, { lastEventId, signal, produce: (stop) => askModel(question, stop) }),
 *   ),
 * ```
 * @throws {TypeError} for an invalid name
 */
export function resumable<Event>(options: ResumableOptions<Event>): Resumable<Event> {
  checkName(options.name);
  return new Runs(options);
}

/** The runs that a process produces and reads. */
class Runs<Event> implements Resumable<Event> {
  readonly #options: Required<ResumableOptions<Event>>;
  readonly #keep: Retention;
  readonly #processId = randomUUID();
  readonly #producers: ProducerWatch;
  readonly #running = new Map<string, RunningRun>();
  #isClosing = false;

  constructor(options: ResumableOptions<Event>) {
    const defaults = { abandonedMs: 30_000, keepMs: 600_000, maxDurationMs: 300_000, maxSize: 1_048_576 };
    this.#options = { ...defaults, ...options };
    const { keepMs, log, maxDurationMs, maxSize, name } = this.#options;
    // Each event has at least one character.
    this.#keep = { events: maxSize + 1000, ms: maxDurationMs + keepMs };
    this.#producers = new ProducerWatch({
      log,
      name,
      processId: this.#processId,
      onLost: (key) => this.#append(key, { type: 'stop', reason: 'lost' }),
    });
  }

  async join(key: string, options: JoinOptions<Event>) {
    const run = randomUUID();
    let first = await this.#firstItem(key);
    if (first.type === 'joined') {
      await this.#append(key, { type: 'start', run, process: this.#processId });
      // Of several processes that have begun at the same time, the first one produces.
      first = await this.#firstItem(key);
    }
    if (first.type !== 'event') throw resyncErrors.RESYNC({ data: { lastEventId: first.id } });
    const start = JSON.parse(first.event) as RunRecord & { type: 'start' }; // Every run begins with it.
    if (start.run === run) this.#begin(key, options.produce);
    return this.#deliver(key, start.process, options);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const { stop } of this.#running.values()) stop('shutdown');
    await Promise.all(Array.from(this.#running.values(), ({ ended }) => ended));
  }

  /** Begins to produce a run of this process. */
  #begin(key: string, produce: JoinOptions<Event>['produce']): void {
    const { abandonedMs, log, maxDurationMs } = this.#options;
    const controller = new AbortController();
    const stop = (reason: StopReason) => controller.abort(new Stopped(reason));
    const tooLong = setTimeout(stop, maxDurationMs, 'duration').unref();
    const abandoned = setTimeout(stop, abandonedMs, 'abandoned').unref();
    const reading = new AbortController();
    void (async () => {
      for await (const _ of log.read(this.#readersOf(key), undefined, reading.signal)) abandoned.refresh();
    })().catch(() => {});
    const ended = this.#run(key, produce, controller).finally(() => {
      clearTimeout(tooLong);
      clearTimeout(abandoned);
      reading.abort();
      this.#running.delete(key);
    });
    this.#running.set(key, { stop, ended });
  }

  /** Produces a run until its end. */
  async #run(
    key: string,
    produce: JoinOptions<Event>['produce'],
    controller: AbortController,
  ): Promise<void> {
    const { signal } = controller;
    this.#producers.begin();
    let last: RunRecord = { type: 'end' };
    let error: unknown;
    let events: AsyncIterator<Event> | undefined;
    try {
      events = produce(signal)[Symbol.asyncIterator]();
      await this.#store(key, events, signal);
    } catch (cause) {
      last = endRecord(signal.aborted ? signal.reason : cause);
      controller.abort(cause);
      error = cause;
      // Not awaited: a producer that ignores its signal may never return.
      void (async () => events?.return?.())().catch(() => {});
    }
    await this.#appendSurely(key, last);
    this.#producers.end();
    if (last.type === 'stop' && last.reason === 'failed') this.#options.onError(error, key);
  }

  /** Stores the events of a producer until it ends. @throws its error, or the reason of the signal */
  async #store(key: string, events: AsyncIterator<Event>, stopped: AbortSignal): Promise<void> {
    const { event: schema, maxSize } = this.#options;
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    stopped.addEventListener('abort', () => aborted.reject(stopped.reason));
    let size = 0;
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      const { done, value } = await Promise.race([events.next(), aborted.promise]);
      if (done) return;
      const event = schema.encode(value);
      size += JSON.stringify(event).length;
      if (size > maxSize) throw new Stopped('size');
      // oxlint-disable-next-line no-await-in-loop -- a producer is not faster than the log
      await this.#append(key, { type: 'event', event });
    }
  }

  async *#deliver(
    key: string,
    producer: string,
    { lastEventId, signal = new AbortController().signal }: JoinOptions<Event>,
  ): AsyncGenerator<TrackedEnvelope<Event>, void, void> {
    const { abandonedMs, event: schema, log } = this.#options;
    const release = this.#producers.watch(producer, key);
    this.#reportReader(key);
    const reports = setInterval(() => this.#reportReader(key), abandonedMs / 3).unref();
    try {
      for await (const item of log.read(this.#channelOf(key), lastEventId ?? beginning, signal)) {
        if (item.type !== 'event') throw resyncErrors.RESYNC({ data: { lastEventId: item.id } });
        const record = JSON.parse(item.event) as RunRecord; // Written by `#append`.
        if (record.type === 'event') yield tracked(item.id, schema.decode(record.event as never));
        else if (record.type === 'end') return;
        else if (record.type === 'stop') throw runErrors.RUN_STOPPED({ data: { reason: record.reason } });
        else if (record.type === 'error') throw new TRPCError({ code: record.code, message: record.message });
      }
      if (!signal.aborted) throw closedError();
    } finally {
      release();
      clearInterval(reports);
    }
  }

  #append(key: string, record: RunRecord): Promise<string> {
    return this.#options.log.append(this.#channelOf(key), JSON.stringify(record), this.#keep);
  }

  /** Appends the end of a run, when the log can be reached again: its readers would wait forever. */
  async #appendSurely(key: string, record: RunRecord): Promise<void> {
    for (let tries = 0; !this.#isClosing || tries < 4; tries += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- until it is stored
        await this.#append(key, record);
        return;
      } catch {
        // oxlint-disable-next-line no-await-in-loop -- the log may be back then
        await sleep(500, undefined, { ref: false });
      }
    }
  }

  /** Tells the producer that the run has a reader. */
  #reportReader(key: string): void {
    const { abandonedMs, log } = this.#options;
    log.append(this.#readersOf(key), '', { events: 1, ms: 2 * abandonedMs }).catch(() => {});
  }

  /** Reads the first item of a run; `joined` if no process has begun it. */
  async #firstItem(key: string): Promise<LogItem> {
    const controller = new AbortController();
    try {
      for await (const item of this.#options.log.read(this.#channelOf(key), beginning, controller.signal))
        return item;
      throw closedError();
    } finally {
      controller.abort();
    }
  }

  // Names have none of the separators, so that no key leads to another channel.
  #channelOf(key: string): string {
    return `${this.#options.name}/${key}`;
  }

  #readersOf(key: string): string {
    return `${this.#options.name}?${key}`;
  }
}

interface RunningRun {
  readonly stop: (reason: StopReason) => void;
  readonly ended: Promise<void>;
}

/** Why a run is stopped. */
class Stopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The run is stopped: ${reason}.`);
    this.reason = reason;
  }
}

function endRecord(cause: unknown): RunRecord {
  if (cause instanceof Stopped) return { type: 'stop', reason: cause.reason };
  // Clients of tRPC would connect again after an internal error, and get it again.
  if (!(cause instanceof TRPCError) || cause.code === 'INTERNAL_SERVER_ERROR')
    return { type: 'stop', reason: 'failed' };
  return { type: 'error', code: cause.code, message: cause.message };
}
