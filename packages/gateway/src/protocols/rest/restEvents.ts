import { isTrackedEnvelope, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { unref, type Timer } from '../../http/eventLoop.ts';
import { isAsyncIterable, type BodyStream, type Header } from '../../http/response.ts';
import { ServerSentEvents, type EventFormat, type EventStreamOptions } from '../../http/serverSentEvents.ts';
import type { CallContext } from '../../calls/requestContext.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { failureOf } from '../../procedures/execute.ts';

export interface EventBodyOptions extends Omit<EventStreamOptions, 'abort'> {
  /** Checks an event against the schema of the operation. */
  readonly parse: (event: unknown) => unknown;
  /** Aborted if the stream ends before its iterator. */
  readonly context: CallContext;
  /** Maximum size of an event, in bytes. A larger one is replaced by an error, which ends the stream. */
  readonly maxEventBytes: number;
  /** Reports an error and returns the body of its response. */
  readonly reportError: (error: TRPCError) => string;
}

/** Time for which the response waits for the first event, so that an error before it becomes an error response. */
const firstEventWaitMs = 250;

/**
 * Encodes the output of a subscription as server-sent events.
 * @throws the error of the subscription, if it fails before its first event and within `firstEventWaitMs`
 */
export async function eventBody(output: unknown, options: EventBodyOptions): Promise<BodyStream> {
  const { context } = options;
  try {
    const events = isObservable(output) ? observableToAsyncIterable(output, context.signal) : output;
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
    // A comment first, if no event is ready: uWebSockets.js sends the head only with the first bytes of the body.
    const format = eventFormat(hasBegun ? '' : pingComment, options);
    return new ServerSentEvents({ [Symbol.asyncIterator]: () => all }, format, {
      ...options,
      abort: () => context.abort(),
    });
  } catch (cause) {
    context.abort();
    throw cause;
  }
}

/** Whether a promise fulfills within a time. Throws its error if it rejects within that time. */
async function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: Timer | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = unref(setTimeout(resolve, ms, false));
  });
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Same as tRPC's: they keep proxies from buffering events. */
export const eventStreamHeaders: readonly Header[] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

/** A comment, which keeps an idle connection open. */
const pingComment = ':\n\n';

/**
 * Creates the event format of REST: `data` is JSON, `id` is that of a tracked event. The last event is `end`, or
 * `error` with the body of the error. Without either, the client connects again.
 */
const eventFormat = (
  start: string,
  { maxEventBytes, parse, reportError }: EventBodyOptions,
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
  error: (cause) => errorEvent(reportError(failureOf(cause).error)),
  revoked: () =>
    errorEvent(
      reportError(
        new TRPCError({
          code: 'UNAUTHORIZED',
          message: 'The credential of this stream is no longer valid. Connect again with another.',
        }),
      ),
    ),
});

const errorEvent = (body: string): string => `event: error\ndata: ${body}\n\n`;
