import type { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable, type Observable } from '@trpc/server/observable';
import { discardOutput } from '../../http/asyncValues.ts';
import { isTrackedEnvelope } from '../../http/trackedEnvelope.ts';
import { failureOf } from '../../procedures/execute.ts';
import type { LimitError } from '../../procedures/limitError.ts';
import type { OpenSubscription } from './openCalls.ts';
import { isAbort, type Socket } from './socket.ts';
import type { WaitingSubscription } from './subscriptionStarts.ts';

export type CallEvents = AsyncIterable<unknown> | Observable<unknown, unknown>;

interface SubscribingCall extends Omit<OpenSubscription, 'subscription'> {
  rejection: unknown;
  startNow(): void;
  end(error?: TRPCError): void;
  endStopped(): void;
  endWithError(cause: unknown): void;
}

/** A subscription on a WebSocket, from the message that starts it until its iterator is closed. */
export class SocketSubscription implements WaitingSubscription {
  readonly startedAt: number;
  /** The bytes of the part of the message that started it, if it is open. */
  inputBytes = 0;
  /** Whether it is starting, which `SubscriptionStarts` counts. */
  #isStarting = false;
  readonly #call: SubscribingCall;
  readonly #socket: Socket;

  constructor(call: SubscribingCall, socket: Socket) {
    this.startedAt = call.startedAt;
    this.#call = call;
    this.#socket = socket;
  }

  startNow(): void {
    this.#isStarting = true;
    this.#call.startNow();
  }

  reject(error: LimitError): void {
    this.#call.rejection = error;
    this.#call.startNow();
  }

  /** Lets another one start instead, if it is starting. */
  endStart(): void {
    if (!this.#isStarting) return;
    this.#isStarting = false;
    this.#socket.settings.starts.ended();
  }

  /** Frees its id for another subscription. */
  release(): void {
    this.endStart();
    this.#socket.subscriptions.remove(this.#call.id, this);
  }

  /** Streams the events. It never rejects. */
  async stream(output: CallEvents): Promise<void> {
    const call = this.#call;
    const socket = this.#socket;
    this.endStart();
    let events: AsyncIterable<unknown>;
    try {
      if (!socket.isOpen) {
        call.abort();
        if (isObservable(output)) return call.endStopped();
      }
      // Observables have no backpressure: events are queued, and the socket of a client that does not read closes.
      events = isObservable(output) ? observableToAsyncIterable(output, call.signal) : output;
    } catch (cause) {
      call.endWithError(cause);
      return call.abort();
    }
    const isStopped = call.signal.aborted;
    if (!isStopped) socket.sendState(call, 'started');
    let iterator: (AsyncIterator<unknown> & Partial<AsyncDisposable>) | undefined;
    const error = await this.#catchError(() => {
      iterator = events[Symbol.asyncIterator]();
      return this.#sendEvents(iterator);
    });
    if (error) call.abort();
    // The call ends before its iterator is closed, since an iterator that ignores its signal may never finish.
    call.end(isStopped ? undefined : error);
    const closingError = await this.#catchError(
      () => iterator?.[Symbol.asyncDispose]?.() ?? iterator?.return?.(),
    );
    if (closingError) call.abort();
    try {
      if (error && !isStopped) socket.sendError(call, error);
    } catch (cause) {
      return call.endWithError(cause);
    }
    const unsent = isStopped ? (error ?? closingError) : closingError;
    if (unsent) socket.reportError(call, unsent);
    call.endStopped();
  }

  async #catchError(run: () => unknown): Promise<TRPCError | undefined> {
    try {
      await run();
      return undefined;
    } catch (cause) {
      return this.#socket.settings.toError(cause);
    }
  }

  /** Sends an event. Returns whether the subscription has ended instead. */
  #sendEvent({ done, value: event }: IteratorResult<unknown>): boolean {
    const [id, data] = isTrackedEnvelope(event) ? event : [undefined, event];
    discardOutput(data);
    if (done || this.#call.signal.aborted) return true;
    const sent = id === undefined ? data : { id, data };
    this.#socket.send(this.#socket.encodeData(this.#call, sent, id));
    return false;
  }

  /** Sends events until the iterator ends or the subscription is stopped, without then waiting for a pending `next()`. */
  #sendEvents(iterator: AsyncIterator<unknown>): Promise<void> {
    const { signal } = this.#call;
    const send = async () => {
      for (;;) {
        await this.#socket.ready();
        if (signal.aborted) return;
        // In a variable, the event would stay in memory until the next one.
        if (this.#sendEvent(await iterator.next())) return;
      }
    };
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      send().then(resolve, (cause: unknown) => {
        if (!signal.aborted) reject(cause);
        else if (!isAbort(failureOf(cause).error)) this.#socket.reportError(this.#call, cause);
      });
    });
  }
}
