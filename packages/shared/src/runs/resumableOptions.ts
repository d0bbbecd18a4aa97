import type { TrackedEnvelope } from '@trpc/server';
import type { EventSchema } from '../channels/eventChannel.ts';
import type { EventLog } from '../events/eventLog.ts';

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
  /** A run is stopped when no client has read it for this time, in milliseconds. At least 1,000. Default: 30,000. */
  readonly abandonedMs?: number;
  /** How long a run can be read after its end, in milliseconds. Default: 10 minutes. */
  readonly keepMs?: number;
  /**
   * How many runs this process produces at once, those without clients included. Further ones are rejected with 503, before
   * `produce` is called. Default: 1,000.
   */
  readonly maxRuns?: number;
  /** How many runs this process produces at once for one `caller` of `join`. Further ones are rejected with 429. Default: 10. */
  readonly maxRunsPerCaller?: number;
}

export interface JoinOptions<Event> {
  /** Id of the user or address of the client, for `maxRunsPerCaller`. `'everyone'`: all share the limit. */
  readonly caller: string;
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
   * @throws {TypeError} without `caller`
   * @throws if the log cannot be reached, or this process closes; 429 or 503 with `Retry-After` if the run would exceed
   * `maxRunsPerCaller` or `maxRuns`. The iterable throws `RUN_STOPPED`, `RESYNC`, or the `TRPCError` of the producer
   */
  join(key: string, options: JoinOptions<Event>): Promise<AsyncIterable<TrackedEnvelope<Event>, void, void>>;

  /** Stops the runs of this process, whose clients get the reason `shutdown`. Call it before the log is closed. */
  close(): Promise<void>;
}
