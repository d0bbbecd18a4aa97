import { setTimeout as sleep } from 'node:timers/promises';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { ResponseDraft } from '../../http/responseDraft.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import type { Header } from '../../http/response.ts';
import { ServerSentEvents } from '../../http/serverSentEvents.ts';
import { CallScope } from '../../policies/callScope.ts';
import { Failure } from '../../procedures/execute.ts';
import { RequestCalls } from './requestCalls.ts';
import { RpcEventFormat } from './rpcEventFormat.ts';

/** Answers the call of a subscription by server-sent events. */
export class EventsResponse extends RequestCalls {
  #outcome: unknown = undefined;
  #body: ServerSentEvents | undefined = undefined;
  /** What `onError` threw. */
  #thrown: { readonly cause: unknown } | undefined = undefined;

  settle(index: number, outcome: unknown): void {
    this.#outcome = outcome;
    // A call that fails is reported twice: as such, and by the stream that fails with it.
    if (outcome instanceof Failure) {
      try {
        this.report(outcome.error, index);
      } catch (cause) {
        this.#thrown = { cause };
      }
    }
    this.end();
  }

  protected override get contextScope(): CallScope {
    return new CallScope(this.request.http);
  }

  protected write(): ResponseDraft {
    const { events, watch } = this.settings;
    if (this.#thrown) throw this.#thrown.cause;
    if (events.error) throw events.error;
    this.head.format = eventHeaders;
    this.decide(200, undefined, []);
    const { scope } = this;
    const iterable = this.#iterable();
    const format = new RpcEventFormat(events, this.request.lastEventId, (cause) => {
      const error = getTRPCErrorFromUnknown(cause);
      this.report(error, 0);
      return this.errorItem(error, 0).error;
    });
    this.#body = new ServerSentEvents(events.endsAfterFirst ? firstEvents(iterable) : iterable, format, {
      pingMs: events.pingMs,
      maxDurationMs: events.maxDurationMs,
      watch: (onRevoked) => watch(scope, onRevoked),
      abort: () => scope.abort(),
    });
    // Before anything is waited for.
    scope.follow();
    return this.head.answer(this.#body);
  }

  protected override discard(): void {
    this.#body?.end();
  }

  #iterable(): AsyncIterable<unknown> {
    const outcome = this.#outcome;
    if (outcome instanceof Failure) return failing(outcome.error);
    if (!this.settings.events.isEnabled) {
      const message = 'Missing experimental flag "sseSubscriptions"';
      return failing(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message }));
    }
    if (isObservable(outcome)) return observableToAsyncIterable(outcome, this.scope.signal);
    if (isAsyncIterable(outcome)) return outcome;
    const message = `Subscription ${this.request.paths[0]} did not return an observable or a AsyncGenerator`;
    return failing(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message }));
  }
}

const eventHeaders: readonly Header[] = [
  ['cache-control', 'no-cache, no-transform'],
  ['content-type', 'text/event-stream'],
  ['vary', 'trpc-accept, accept'],
  ['x-accel-buffering', 'no'],
];

/** A stream that begins with its error. */
// oxlint-disable-next-line require-yield -- there are no events
async function* failing(error: TRPCError): AsyncGenerator<never> {
  throw error;
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
