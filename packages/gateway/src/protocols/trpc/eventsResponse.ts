import { setTimeout as sleep } from 'node:timers/promises';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { Header } from '../../http/response.ts';
import { ServerSentEvents, type EventStreamTimes } from '../../http/serverSentEvents.ts';
import { Failure } from '../../procedures/execute.ts';
import type { TrpcSettings } from './options.ts';
import { RequestCalls, vary } from './requestCalls.ts';
import { RpcEventFormat } from './rpcEventFormat.ts';

/** Answers the call of a subscription by server-sent events. */
export class EventsResponse extends RequestCalls {
  #outcome: unknown = undefined;
  #body: ServerSentEvents | undefined = undefined;

  settle(index: number, outcome: unknown): void {
    this.#outcome = outcome;
    // A call that fails is reported twice: as such, and by the stream that fails with it.
    if (outcome instanceof Failure) this.reportOutcome(outcome.error, index);
    this.end();
  }

  protected write(): ResponseDraft {
    if (this.thrown) throw this.thrown.cause;
    const { request, scope, settings } = this;
    const { config, limits } = settings;
    const { client = {}, emitAndEndImmediately, ping } = config.sse ?? {};
    const { enabled: isPinging = false, intervalMs = 1000 } = ping ?? {};
    const { reconnectAfterInactivityMs = Infinity } = client;
    if (isPinging && intervalMs > reconnectAfterInactivityMs) {
      throw new Error(
        'Ping interval must be less than client reconnect interval to prevent unnecessary reconnection - ' +
          `ping.intervalMs: ${intervalMs} client.reconnectAfterInactivityMs: ${reconnectAfterInactivityMs}`,
      );
    }
    this.format = eventHeaders;
    const format = new RpcEventFormat(
      {
        serialize: (data) => config.transformer.output.serialize(data) as unknown,
        client: JSON.stringify(client),
        maxEventBytes: limits.maxResponseBytes,
      },
      request.lastEventId,
      (cause) => {
        const error = getTRPCErrorFromUnknown(cause);
        this.report(error, 0);
        return this.errorItem(error, 0).error;
      },
    );
    const events = { [Symbol.asyncIterator]: () => this.#iterator() };
    this.#body = new ServerSentEvents(emitAndEndImmediately ? firstEvents(events) : events, format, {
      ...eventTimes(config),
      watch: (onRevoked) => settings.watch(scope.token, scope.request, onRevoked),
      abort: () => scope.abort(),
    });
    // Before anything is waited for.
    scope.follow();
    return this.answer(this.#body);
  }

  protected override discard(): void {
    this.#body?.end();
  }

  /** What it throws is the error that the stream begins with. */
  #iterator(): AsyncIterator<unknown> {
    const outcome = this.#outcome;
    if (outcome instanceof Failure) throw outcome.error;
    if (this.settings.config.sse?.enabled === false) {
      const message = 'Missing experimental flag "sseSubscriptions"';
      throw new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message });
    }
    const events = isObservable(outcome) ? observableToAsyncIterable(outcome, this.scope.signal) : outcome;
    if (isAsyncIterable(events)) return events[Symbol.asyncIterator]();
    const message = `Subscription ${this.request.paths[0]} did not return an observable or a AsyncGenerator`;
    throw new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message });
  }
}

const eventHeaders: readonly Header[] = [
  ['cache-control', 'no-cache, no-transform'],
  ['content-type', 'text/event-stream'],
  vary,
  ['x-accel-buffering', 'no'],
];

/** How long streams of events may be quiet, and last, over REST too. */
export function eventTimes({ sse = {} }: TrpcSettings['config']): EventStreamTimes {
  const { maxDurationMs, ping: { enabled = false, intervalMs = 1000 } = {} } = sse;
  const isPinging = enabled && intervalMs > 0 && intervalMs !== Infinity;
  return { pingMs: isPinging ? intervalMs : undefined, maxDurationMs };
}

/** `emitAndEndImmediately`: the first event and those within a millisecond. The client reconnects for further ones. */
async function* firstEvents(events: AsyncIterable<unknown>): AsyncGenerator {
  const iterator = events[Symbol.asyncIterator]();
  let expiry: Promise<undefined> | undefined;
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      const result = await (expiry ? Promise.race([iterator.next(), expiry]) : iterator.next());
      if (result === undefined)
        throw new DOMException('The stream ends after its first event.', 'AbortError');
      if (result.done) return;
      yield result.value;
      expiry ??= sleep(1);
    }
  } finally {
    await iterator.return?.();
  }
}
