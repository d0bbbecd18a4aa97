import { getTRPCErrorFromUnknown, isTrackedEnvelope, type TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { unref, type Timer } from '../../http/eventLoop.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { ServerSentEvents, type EventFormat, type EventStreamOptions } from '../../http/serverSentEvents.ts';
import type { CallScope } from '../../policies/callScope.ts';
import { boundedJson } from '../../policies/responseBytes.ts';
import type { ResponseContent } from './successResponse.ts';

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

/** How long an error before the first event can still become an error response. */
const firstEventWaitMs = 250;

/**
 * The output of a subscription as server-sent events.
 * @throws what the subscription fails with before its first event, where that comes soon
 */
export async function eventContent(output: unknown, options: EventContentOptions): Promise<ResponseContent> {
  const { scope } = options;
  try {
    const events = isObservable(output) ? observableToAsyncIterable(output, scope.signal) : output;
    if (!isAsyncIterable(events)) {
      throw new Error('The subscription returned neither an async iterable nor an observable.');
    }
    const iterator = events[Symbol.asyncIterator]();
    let first: Promise<IteratorResult<unknown>> | undefined = Promise.resolve(iterator.next());
    const hasBegun = await settlesWithin(firstEventWaitMs, first);
    const all: AsyncIterator<unknown> = {
      next() {
        const result = first ?? iterator.next();
        first = undefined;
        return result;
      },
      return: async (value) => (await iterator.return?.(value)) ?? { done: true, value },
    };
    // uWebSockets.js sends the head with the first bytes of the body.
    const format = eventFormat(hasBegun ? '' : pingComment, options);
    const body = new ServerSentEvents({ [Symbol.asyncIterator]: () => all }, format, {
      ...options,
      abort: () => scope.abort(),
    });
    return { headers: eventStreamHeaders, body };
  } catch (cause) {
    scope.abort();
    throw cause;
  }
}

/** Whether a promise is fulfilled within so many milliseconds. @throws what it rejects with within them */
async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = unref(setTimeout(resolve, ms, false));
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** As tRPC's: proxies must pass events on as they come. */
const eventStreamHeaders: ResponseContent['headers'] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

/** Keeps a stream alive: a comment. */
const pingComment = ':\n\n';

/** `data` is JSON, `id` is a tracked event's. The last event is `end`, or `error` with the body of the error. */
const eventFormat = (
  start: string,
  { maxEventBytes, parse, reportError }: EventContentOptions,
): EventFormat => ({
  start,
  end: 'event: end\ndata: \n\n',
  ping: pingComment,
  event(value) {
    const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
    return mapMaybePromise(parse(data), (event) => {
      const json = boundedJson(event, maxEventBytes);
      return `data: ${json}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
    });
  },
  error: (cause) => `event: error\ndata: ${reportError(getTRPCErrorFromUnknown(cause))}\n\n`,
});
