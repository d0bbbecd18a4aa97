import type { TRPCError } from '@trpc/server';
import { isTrackedEnvelope } from '../../http/trackedEnvelope.ts';
import { mapMaybePromise } from '../../http/maybePromise.ts';
import { discardNext } from '../../http/asyncValues.ts';
import { unref } from '../../http/eventLoop.ts';
import type { BodyStream } from '../../http/response.ts';
import { ServerSentEvents, type EventFormat, type EventStreamOptions } from '../../http/serverSentEvents.ts';
import { resyncId } from '../../procedures/resync.ts';
import { revokedError } from '../../auth/credentialWatch.ts';
import type { CallContext } from '../../calls/requestContext.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { subscriptionIterator } from '../subscriptionIterator.ts';

interface EventBodyOptions extends Omit<EventStreamOptions, 'abort'> {
  /** Checks an event against the schema of the operation. */
  readonly parse: (event: unknown) => unknown;
  /** Aborted if the stream ends before its iterator. */
  readonly context: CallContext;
  /** Maximum size of an event, in bytes. A larger one is replaced by an error, which ends the stream. */
  readonly maxEventBytes: number;
  /** Converts what the subscription throws to its error. */
  readonly toError: (cause: unknown) => TRPCError;
  /** Reports an error and returns the body of its response. */
  readonly reportError: (error: TRPCError) => string;
}

/** Time for which the response waits for the first event, so that an error before it becomes an error response. */
const firstEventWaitMs = 250;

/** A comment, which keeps an idle connection open. */
const pingComment = ':\n\n';

/** The event of the error with which a stream ends. @param body that of the error response */
export const errorEvent = (body: string): string => `event: error\ndata: ${body}\n\n`;

/**
 * Encodes the output of a subscription as server-sent events: `data` is JSON, `id` is that of a tracked event. The last
 * event is `end`, or `error` with the body of the error. Without either, the client connects again; so it does after a last event
 * `resync`, which is the error `RESYNC` with its id.
 * @throws the error of the subscription, if it fails before its first event and within `firstEventWaitMs`
 */
export async function eventBody(output: unknown, options: EventBodyOptions): Promise<BodyStream> {
  const { maxEventBytes, parse, reportError, toError, context } = options;
  const lastEvent = (cause: unknown) => {
    const id = resyncId(cause);
    const error = toError(cause);
    const body = reportError(error);
    return id === undefined ? errorEvent(body) : `event: resync\nid: ${id}\ndata: ${body}\n\n`;
  };
  try {
    const iterator = subscriptionIterator(output, context);
    let first: Promise<IteratorResult<unknown>> | undefined = Promise.resolve(iterator.next());
    const timeout = new Promise<boolean>((resolve) => {
      unref(setTimeout(resolve, firstEventWaitMs, false));
    });
    // EventSource does not connect again after an error response.
    const begun = first.then(
      () => true,
      (cause: unknown) => resyncId(cause) !== undefined || Promise.reject(cause),
    );
    const hasBegun = await Promise.race([begun, timeout]);
    const all: AsyncIterator<unknown> = {
      next() {
        const result = first ?? iterator.next();
        first = undefined;
        return result;
      },
      async return(value) {
        if (first) discardNext(first);
        return (await iterator.return?.(value)) ?? { done: true, value };
      },
    };
    const format: EventFormat = {
      // A comment first, if no event is ready: uWebSockets.js sends the head only with the first bytes of the body.
      start: hasBegun ? '' : pingComment,
      end: 'event: end\ndata: \n\n',
      ping: pingComment,
      event(value) {
        const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
        return mapMaybePromise(parse(data), (event) => {
          const json = boundedJson(event, maxEventBytes);
          return `data: ${json}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
        });
      },
      error: lastEvent,
      revoked: () => errorEvent(reportError(revokedError())),
    };
    return new ServerSentEvents(all, format, {
      ...options,
      abort: () => context.abort(),
    });
  } catch (cause) {
    context.abort();
    throw toError(cause);
  }
}
