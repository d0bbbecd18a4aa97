import { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import { isTrackedEnvelope } from '../../http/trackedEnvelope.ts';
import { isObject } from '../../http/isObject.ts';
import { discardNext, discardOutput } from '../../http/asyncValues.ts';
import { discardStream, isAsyncIterable, type Header, type OutgoingResponse } from '../../http/response.ts';
import { ServerSentEvents, type EventFormat, type EventStreamTimes } from '../../http/serverSentEvents.ts';
import { boundedJson } from '../../calls/responseBytes.ts';
import { Failure } from '../../procedures/execute.ts';
import type { TrpcSettings } from './options.ts';
import { RequestCalls, varyByTrpcAccept } from './requestCalls.ts';
import { encodeError } from './trpcErrors.ts';

/** Responds to a subscription with server-sent events. */
export class EventsResponse extends RequestCalls {
  readonly readsIterables = true;
  #outcome: unknown = undefined;
  #body: ServerSentEvents | undefined = undefined;

  settle(_index: number, outcome: unknown): void {
    this.#outcome = outcome;
    this.end();
  }

  protected write(): OutgoingResponse {
    // The error of a call is reported twice: here, and by the stream, which fails with the same error.
    if (this.#outcome instanceof Failure) this.report(this.#outcome.error, this.callOf(0));
    const { request, context, settings } = this;
    const { client, emitAndEndImmediately, ping } = settings.config.sse ?? {};
    const { enabled: isPinging = false, intervalMs = 1000 } = ping ?? {};
    const { reconnectAfterInactivityMs = Infinity } = client ?? {};
    if (isPinging && intervalMs > reconnectAfterInactivityMs) {
      throw new Error(
        'Ping interval must be less than client reconnect interval to prevent unnecessary reconnection - ' +
          `ping.intervalMs: ${intervalMs} client.reconnectAfterInactivityMs: ${reconnectAfterInactivityMs}`,
      );
    }
    this.format = eventHeaders;
    const format = rpcEventFormat(settings, request.lastEventId, (cause) => {
      const error = settings.toError(cause);
      this.report(error, this.callOf(0));
      context.outcome.callFailed(error, 0, context.request.isAborted);
      return this.shapeOf(error, this.callOf(0));
    });
    const events = this.#iterator();
    this.#body = new ServerSentEvents(emitAndEndImmediately ? firstEvents(events) : events, format, {
      ...settings.eventTimes,
      watch: (onRevoked) => settings.watch(context, onRevoked),
      abort: () => context.abort(),
    });
    // Before the first `await`: a disconnect must abort the signal from now on.
    context.follow();
    return this.response(this.#body);
  }

  protected override discard(): void {
    this.context.outcome.isPending = true;
    if (this.#body) this.#body.end();
    else if (isAsyncIterable(this.#outcome)) void discardStream(this.#outcome);
  }

  /** Returns the iterator of the events. Without one, the stream starts with the error. */
  #iterator(): AsyncIterator<unknown> {
    const outcome = this.#outcome;
    try {
      if (outcome instanceof Failure) throw outcome.error;
      if (this.settings.config.sse?.enabled === false) {
        const message = 'Missing experimental flag "sseSubscriptions"';
        throw new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message });
      }
      const events = isObservable(outcome)
        ? observableToAsyncIterable(outcome, this.context.signal)
        : outcome;
      if (isAsyncIterable(events)) return events[Symbol.asyncIterator]();
      const message = `Subscription ${this.request.paths[0]} did not return an observable or a AsyncGenerator`;
      throw new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message });
    } catch (cause) {
      return { next: () => Promise.reject(cause) };
    }
  }
}

export const eventHeaders: readonly Header[] = [
  ['cache-control', 'no-cache, no-transform'],
  ['content-type', 'text/event-stream'],
  varyByTrpcAccept,
  ['x-accel-buffering', 'no'],
];

/** Returns the ping interval and the maximum duration of event streams, from the router's `sse`. Also for REST. */
export function eventTimes({ sse = {} }: TrpcSettings['config']): EventStreamTimes {
  const { maxDurationMs, ping: { enabled = false, intervalMs = 1000 } = {} } = sse;
  const isPinging = enabled && intervalMs > 0 && intervalMs !== Infinity;
  return { pingMs: isPinging ? intervalMs : undefined, maxDurationMs };
}

/** Implements `emitAndEndImmediately`: yields the first event and those within 1 ms. The client reconnects for more. */
async function* firstEvents(iterator: AsyncIterator<unknown>): AsyncGenerator {
  let expiry: Promise<undefined> | undefined;
  try {
    for (;;) {
      const next = iterator.next();
      const result = await (expiry ? Promise.race([next, expiry]) : next);
      if (result === undefined) {
        discardNext(next);
        throw new DOMException('The stream ends after its first event.', 'AbortError');
      }
      if (result.done) return;
      yield result.value;
      expiry ??= new Promise((resolve) => setTimeout(resolve, 1, undefined));
    }
  } finally {
    await iterator.return?.();
  }
}

/** The event of an error. @param shape its shape, encoded */
export const errorEvent = (shape: string): string => `event: serialized-error\ndata: ${shape}\n\n\n`;

/**
 * Creates the format of one stream of server-sent events: that of tRPC's `sseStreamProducer` (@trpc/server 11.25). An
 * event that is too large is replaced by an error, which ends the stream.
 * @param lastEventId the last event that the reconnecting client received
 * @param reportError reports an error and returns its shape
 */
function rpcEventFormat(
  { config, limits: { maxResponseSize } }: Pick<TrpcSettings, 'config' | 'limits'>,
  lastEventId: string | null,
  reportError: (cause: unknown) => object,
): EventFormat {
  const { output } = config.transformer;
  let restoredId = lastEventId && !/[\0\n\r]/.test(lastEventId) ? lastEventId : null;
  return {
    start: `event: connected\ndata: ${JSON.stringify(config.sse?.client ?? {})}\n\n\n`,
    end: 'event: return\ndata: \n\n\n',
    ping: 'event: ping\ndata: \n\n\n',
    event(value) {
      const [id, data] = isTrackedEnvelope(value) ? value : [undefined, value];
      discardOutput(data);
      const json = boundedJson(output.serialize(data), maxResponseSize);
      if (id !== undefined) {
        restoredId = id;
        return `data: ${json}\nid: ${id}\n\n\n`;
      }
      if (restoredId === null) return `data: ${json}\n\n\n`;
      return `data: ${json}\nid: \n\n\nevent: restore-id\ndata: \nid: ${restoredId}\n\n\n`;
    },
    error(cause) {
      if (isObject(cause) && cause['name'] === 'AbortError') return '';
      const { text } = encodeError(reportError(cause), (shape) => output.serialize(shape), maxResponseSize);
      return errorEvent(text);
    },
  };
}
