import { tracked, TRPCError, type TrackedEnvelope } from '@trpc/server';
import { resyncErrors } from 'trpc-gateway/procedures';
import { isZod } from 'trpc-gateway/schemas';
// `schema.encode`, which `zod/mini` does not have.
import { encode } from 'zod/v4/core';
import { inTime } from '../inTime.ts';
import { checkLimit, checkName } from './checkOptions.ts';
import type { EventLog, LogItem, Retention } from '../events/eventLog.ts';
import { closedError, unavailable, logTimeoutMs } from '../events/logErrors.ts';

/** A zod schema. Its input is stored, its output read: codecs may convert. Before zod 4.1: no transforms. */
export interface EventSchema<Event> {
  /** @throws if the stored value does not match */
  parse(stored: unknown): Event;
}

/** Returns what is stored. @throws for an invalid event, or a transform: only a codec can be reversed */
export function encodeEvent<Event>(schema: EventSchema<Event>, event: Event): unknown {
  const canEncode = isZod(schema) && schema._zod.version.minor > 0;
  return canEncode ? encode(schema, event) : schema.parse(event);
}

export interface EventChannelOptions<Event> {
  /** Where the events are kept: `memoryEventLog()`, `folderEventLog()`, `redisEventLog()`. */
  readonly log: EventLog;
  /** Distinguishes the channels of a log: 1 to 100 letters, digits, `_`, `-` and `.`. */
  readonly name: string;
  /** The schema of the events. Their JSON is stored. */
  readonly event: EventSchema<Event>;
  /**
   * How many events of each key are kept, how many bytes of JSON, and for how many milliseconds, so that clients can resume after
   * a disconnect. The limit that is reached first counts. Default: 1,000 events, 4 MiB, one hour.
   */
  readonly keep?: Partial<Retention>;
  /** The size of an event, in bytes of JSON as UTF-8. Default: 65,536. */
  readonly maxEventSize?: number;
}

export interface SubscribeOptions<Snapshot = never> {
  /** The id of the last event that the client has received: the input property `lastEventId` of the procedure. */
  readonly lastEventId?: string | null | undefined;
  /** The signal of the procedure, which ends the subscription. */
  readonly signal: AbortSignal | undefined;
  /**
   * Returns the current data, sent as the first event of a client without `lastEventId`, and instead of each `RESYNC`. It is
   * called after the position of the subscription is fixed: a later event follows, even if the data contains it. It gives the
   * client an id, so one that disconnects before its first event misses nothing.
   */
  readonly snapshot?: () => Snapshot | Promise<Snapshot>;
}

/** Events of one type, by key. */
export interface EventChannel<Event> {
  /**
   * Stores an event and sends it to the subscribers of the key in all processes that share the log.
   * @returns the id of the event, when it is stored
   * @throws {TRPCError} `PAYLOAD_TOO_LARGE` for an event larger than `maxEventSize`, which is usually one of a large input
   * @throws if the event does not match the schema; 503 SERVICE_UNAVAILABLE if the log has not stored it within 1.5 s. Whether
   * it is stored is then unknown: it may still be, in a few seconds
   */
  publish(key: string, event: Event): Promise<string>;

  /**
   * Subscribes to the events of a key. A client with `lastEventId` gets all events that it has missed, once each and in order, then
   * the live ones. If some are missing for good, the error `RESYNC` of `resyncErrors` takes their place, or a `snapshot`: they are
   * no longer kept, the id is of another log, or the schema of this version of the program rejects them.
   *
   * The procedure authorizes each client before it subscribes. It runs again for each connection, so that a client
   * which has lost its rights cannot resume:
   *
   * ```ts
   * onAnimalChange: t.procedure
   *   .meta({ openapi: { method: 'GET', path: '/shelters/{shelter}/changes', event: AnimalChange } })
   *   .input(z.object({ shelter: z.string(), lastEventId: z.string().optional() }))
   *   .errors(resyncErrors)
   *   .subscription(async ({ ctx, input: { lastEventId, shelter }, signal }) => {
   *     await ctx.requireMember(shelter);
   *     return animalChanges.subscribe(shelter, { lastEventId, signal });
   *   }),
   * ```
   * @returns the events with their ids, when the position of a new client is fixed: an event that is published later is not missed.
   * If the log does not respond within 1.5 s, they are returned before, and begin with a `RESYNC` or a `snapshot` when it responds
   * @throws 503 SERVICE_UNAVAILABLE if the log is closed or cannot be used. While it cannot be reached, the events wait
   */
  subscribe<Snapshot = never>(
    key: string,
    options: SubscribeOptions<Snapshot>,
  ): Promise<AsyncIterable<TrackedEnvelope<Event | Snapshot>, void, void>>;
}

const defaultKeep: Retention = { events: 1000, bytes: 4_194_304, ms: 3_600_000 };

/**
 * Defines a channel of events. Subscribers in all processes that share the log get the events, and continue after a disconnect.
 *
 * ```ts
 * const animalChanges = eventChannel({ log, name: 'animal-changes', event: AnimalChange });
 * await animalChanges.publish(shelter, { type: 'adopted', id });
 * ```
 * @throws {TypeError} for an invalid option
 */
export function eventChannel<Event>(options: EventChannelOptions<Event>): EventChannel<Event> {
  const { event: schema, log, maxEventSize = 65_536, name } = options;
  const keep = { ...defaultKeep, ...options.keep };
  checkName(name);
  for (const [field, value] of Object.entries(keep))
    checkLimit(`the channel ${name}`, `keep.${field}`, value);
  checkLimit(`the channel ${name}`, 'maxEventSize', maxEventSize);
  // Names have no colon.
  const channelOf = (key: string) => `${name}:${key}`;

  /** Returns the data of a stored event; `undefined` if the schema rejects it. */
  function decode(stored: string): { readonly data: Event } | undefined {
    try {
      return { data: schema.parse(JSON.parse(stored)) };
    } catch {
      return undefined;
    }
  }

  async function* deliver<Snapshot>(
    channel: string,
    after: string,
    { signal, snapshot }: Delivery<Snapshot>,
  ): AsyncGenerator<TrackedEnvelope<Event | Snapshot>, void, void> {
    let from: string | undefined = after;
    while (from !== undefined) {
      const items: AsyncIterable<LogItem> = read(log, channel, from, signal);
      from = undefined;
      for await (const item of items) {
        const event = item.type === 'event' ? decode(item.event) : undefined;
        if (event) {
          yield tracked(item.id, event.data);
          continue;
        }
        // The client wants all events from the beginning, and there has been none.
        if (item.type === 'joined' && !snapshot) continue;
        // After an event that the schema rejects, others may follow: one RESYNC stands for all of them.
        const id = item.type === 'event' ? await newest(log, channel, signal) : item.id;
        if (!snapshot) throw resyncErrors.RESYNC({ data: { lastEventId: id } });
        yield tracked(id, await snapshot());
        if (item.type !== 'event') continue;
        from = id;
        break;
      }
    }
    if (!signal.aborted) throw closedError();
  }

  /** @param position that of a new client; a promise if the log does not respond */
  async function* join<Snapshot>(
    channel: string,
    position: string | Promise<string>,
    delivery: Delivery<Snapshot>,
  ) {
    const { signal, snapshot } = delivery;
    const id = await position;
    if (!signal.aborted) {
      if (snapshot) yield tracked<Event | Snapshot>(id, await snapshot());
      // What others have published since `subscribe` resolved is missing.
      else if (position !== id) throw resyncErrors.RESYNC({ data: { lastEventId: id } });
    }
    yield* deliver(channel, id, delivery);
  }

  return {
    async publish(key, event) {
      const stored = JSON.stringify(encodeEvent(schema, event));
      const size = Buffer.byteLength(stored);
      if (size > maxEventSize) throw eventTooLarge(name, size, maxEventSize);
      const id = await inTime(log.append(channelOf(key), stored, keep), logTimeoutMs).catch(
        (cause: unknown) => {
          throw unavailable(cause, unconfirmed);
        },
      );
      if (id === undefined) throw unavailable(undefined, unconfirmed);
      return id;
    },
    async subscribe(key, { lastEventId, signal = new AbortController().signal, snapshot }) {
      const channel = channelOf(key);
      const delivery = { signal, snapshot };
      // An empty field of a query is no id.
      if (lastEventId) return deliver(channel, lastEventId, delivery);
      // No reader is left open: the procedure may fail before it iterates the events, and its client may leave.
      const position = newest(log, channel, signal);
      return join(channel, (await inTime(position, logTimeoutMs)) ?? position, delivery);
    },
  };
}

interface Delivery<Snapshot> {
  readonly signal: AbortSignal;
  readonly snapshot: (() => Snapshot | Promise<Snapshot>) | undefined;
}

/** Reads a log. @throws 503 if it cannot be read */
async function* read(log: EventLog, channel: string, after: string | undefined, signal: AbortSignal) {
  try {
    yield* log.read(channel, after, signal);
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** Returns the id after which a new client reads: that of the newest event. */
async function newest(log: EventLog, channel: string, signal: AbortSignal): Promise<string> {
  for await (const { id } of read(log, channel, undefined, signal)) return id;
  // Its client has left, and nothing will be read.
  if (signal.aborted) return '';
  throw closedError();
}

const unconfirmed =
  'The event log has not confirmed the event: whether it is stored is unknown, and it may be sent twice if you try again.';

/** 413, as for a body that is too large: the same call would fail again, and its client can send less. */
const eventTooLarge = (name: string, size: number, maxSize: number): TRPCError =>
  new TRPCError({
    code: 'PAYLOAD_TOO_LARGE',
    message: `The event for the channel ${name} has ${size} bytes of JSON, more than ${maxSize} (maxEventSize). Shorten it.`,
  });
