import { getTRPCErrorFromUnknown, isTrackedEnvelope, type TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { after } from '../../http/after.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { ServerSentEvents, type EventFormat, type EventStreamOptions } from '../../http/serverSentEvents.ts';
import type { CallScope } from '../../policies/callScope.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import type { Content } from './restOperation.ts';

export interface EventContentOptions extends Omit<EventStreamOptions, 'abort'> {
  /** Checks an event against the schema of the operation. */
  readonly parse: (event: unknown) => unknown;
  /** Aborted when the stream ends before its iterator does. */
  readonly scope: CallScope;
  /** The largest event, in bytes; the stream ends with an error in place of a larger one. */
  readonly maxEventBytes: number;
  /** Reports an error. @returns the body of its response */
  readonly reportError: (error: TRPCError) => string;
}

/**
 * The output of a subscription as server-sent events.
 * @throws what the subscription fails with before its first event, where that comes soon
 */
export async function eventContent(output: unknown, options: EventContentOptions): Promise<Content> {
  const { scope } = options;
  try {
    const { events, hasBegun } = await awaitFirst(eventsOf(output, scope.signal));
    // uWebSockets.js sends the head with the first bytes of the body.
    const format = new RestEventFormat(hasBegun ? '' : ping, options);
    const body = new ServerSentEvents(events, format, { ...options, abort: () => scope.abort() });
    return { headers: eventHeaders, body };
  } catch (cause) {
    scope.abort();
    throw cause;
  }
}

/** As tRPC's: proxies must pass events on as they come. */
const eventHeaders: Content['headers'] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

/** Keeps a stream alive: a comment. */
const ping = ':\n\n';

/** `data` is JSON, `id` is a tracked event's. The last event is `end`, or `error` with the body of the error. */
class RestEventFormat implements EventFormat {
  readonly start: string;
  readonly end = 'event: end\ndata: \n\n';
  readonly ping = ping;
  readonly #options: EventContentOptions;

  constructor(start: string, options: EventContentOptions) {
    this.start = start;
    this.#options = options;
  }

  event(value: unknown): string | Promise<string> {
    const { maxEventBytes, parse } = this.#options;
    const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
    return after(parse(data), (event) => {
      const json = boundedJson(event, maxEventBytes);
      return `data: ${json}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
    });
  }

  error(cause: unknown): string {
    return `event: error\ndata: ${this.#options.reportError(getTRPCErrorFromUnknown(cause))}\n\n`;
  }
}

/** The output of a subscription as an async iterable. */
function eventsOf(output: unknown, signal: AbortSignal): AsyncIterable<unknown> {
  if (isObservable(output)) return observableToAsyncIterable(output, signal);
  if (isAsyncIterable(output)) return output;
  throw new Error('The subscription returned neither an async iterable nor an observable.');
}

/** How long an error before the first event can still become an error response. */
const graceMs = 250;

/**
 * Waits for the first event of a subscription, but not for long.
 * @returns the events, the first among them, and whether that has come
 * @throws what the subscription fails with meanwhile
 */
async function awaitFirst(
  events: AsyncIterable<unknown>,
): Promise<{ readonly events: AsyncIterable<unknown>; readonly hasBegun: boolean }> {
  const iterator = events[Symbol.asyncIterator]();
  const first = Promise.resolve(iterator.next());
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), graceMs);
  });
  const result = await Promise.race([first, grace]).finally(() => clearTimeout(timer));
  let isFirst = true;
  const rest: AsyncIterator<unknown> = {
    next: () => {
      if (!isFirst) return iterator.next();
      isFirst = false;
      return first;
    },
    return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
  };
  return { events: { [Symbol.asyncIterator]: () => rest }, hasBegun: result !== undefined };
}
