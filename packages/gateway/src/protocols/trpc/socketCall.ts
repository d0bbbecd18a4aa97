// Hot path: every call on a WebSocket runs here. The global `performance` is a getter, and each reading costs 50 ns.
import { performance } from 'node:perf_hooks';
import { isTrackedEnvelope, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { TRPCRequestMessage } from '@trpc/server/rpc';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Calls, OutcomeReceiver } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import type { Limits } from '../../policies/limits.ts';
import { Failure, failureOf, type RawInputs } from '../../procedures/execute.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import type { CallInfo, SocketMessages } from './socketMessages.ts';

/** What a call needs of its socket. */
export interface CallOwner {
  readonly request: HttpRequest;
  readonly isOpen: boolean;
  readonly messages: SocketMessages;
  readonly options: { readonly calls: Calls; readonly limits: Limits };
  /** Why there is no context: the error of every call. */
  readonly contextError: TRPCError | undefined;
  /** Queries and mutations that are waited for. */
  readonly pending: Set<SocketCall>;
  /** Subscriptions that have started and not ended. */
  readonly streams: Set<SocketCall>;
  /** Subscriptions by their ids, from when they are read until their iterators are closed. */
  readonly subscriptions: Map<string | number, SocketCall>;
  /** Why no further call may start. */
  rejection(): TRPCError | undefined;
  /** What a subscription waits for before its next event: its client reads too slowly. */
  ready(): Promise<void> | undefined;
  /** Called once per call, when it is no longer in flight. */
  ended(call: SocketCall, error: TRPCError | undefined): void;
}

/** One call on a WebSocket, answered as tRPC's connection handler (@trpc/server 11.25) answers it. */
export class SocketCall extends CallScope implements CallInfo, RawInputs, OutcomeReceiver {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly input: unknown;
  /** `undefined` where there is none of this type at its path. */
  readonly procedure: Procedure | undefined;
  /** By `performance.now()`; `undefined` for a call that is rejected before it starts. */
  startedAt: number | undefined = undefined;
  readonly #owner: CallOwner;
  /** Its place in its message. */
  readonly #index: number;
  #isSettled = false;
  #hasEnded = false;
  /** Ends a subscription's wait for its next event. */
  #wake: (() => void) | undefined = undefined;

  constructor(
    owner: CallOwner,
    id: string | number,
    { jsonrpc, method, params }: TRPCRequestMessage,
    procedure: Procedure | undefined,
    index: number,
  ) {
    super(owner.request);
    const { input, lastEventId } = params;
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.path = params.path;
    this.type = method;
    this.input = lastEventId === undefined ? input : withLastEventId(input, lastEventId);
    this.procedure = procedure?.type === method ? procedure : undefined;
    this.#owner = owner;
    this.#index = index;
  }

  get isSubscription(): boolean {
    return this.type === 'subscription';
  }

  /** Its socket aborts it: a listener to its request would stay for as long as the socket is open. */
  override follow(): void {}

  /** Runs the call, which is answered at once where nothing in it waits. It never throws. */
  start(): void {
    const { contextError, isOpen, messages, options, pending, streams } = this.#owner;
    const { isSubscription, path, procedure } = this;
    if (contextError) return this.#fail(contextError);
    if (isSubscription && (this.signal.aborted || !isOpen)) return this.#stopped();
    if (procedure === undefined) {
      const message = `No "${this.type}"-procedure on path "${path}"`;
      return this.#fail(new TRPCError({ code: 'NOT_FOUND', message }));
    }
    const error = this.#owner.rejection();
    if (error) return this.#fail(error);
    this.startedAt = performance.now();
    if (isSubscription) streams.add(this);
    options.calls.start(procedure, messages.context, this, this.#index, this, this);
    if (!isSubscription && !this.#isSettled) pending.add(this);
  }

  /** @throws {LimitError} `json-depth` */
  read(): unknown {
    const { maxJsonDepth } = this.#owner.options.limits;
    if (isDeeper(this.input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return this.input;
  }

  settle(_index: number, outcome: unknown): void {
    this.#isSettled = true;
    this.#owner.pending.delete(this);
    if (outcome instanceof Failure) this.#fail(outcome.error);
    else if (this.isSubscription) void this.#stream(outcome);
    else this.#answer(outcome);
  }

  #answer(output: unknown): void {
    try {
      if (isAsyncIterable(output) || isObservable(output)) throw notStreamable(this);
      this.#owner.messages.sendData(this, output);
    } catch (cause) {
      return this.#fail(cause);
    }
    this.#end();
  }

  /** Answers with an error. A call that gave up since it was stopped, or its client has gone, has not failed. */
  #fail(cause: unknown): void {
    const error = failureOf(cause).error;
    if (error.code === 'INTERNAL_SERVER_ERROR' && isAbort(error) && this.signal.aborted)
      return this.#stopped();
    this.#end(error);
    this.#release();
    this.#owner.messages.fail(this, error);
  }

  #stopped(): void {
    if (this.startedAt !== undefined) this.#end();
    this.#release();
    this.#owner.messages.sendState(this, 'stopped');
  }

  #end(error?: TRPCError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.isSubscription) this.#owner.streams.delete(this);
    this.#owner.ended(this, error);
  }

  /** Lets another subscription have the id. */
  #release(): void {
    if (this.isSubscription) this.#owner.subscriptions.delete(this.id);
  }

  /** Sends the events of a subscription. It never rejects. */
  async #stream(output: unknown): Promise<void> {
    try {
      await this.#iterate(output);
      this.#stopped();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  async #iterate(output: unknown): Promise<void> {
    const { messages } = this.#owner;
    if (!isAsyncIterable(output) && !isObservable(output)) throw notIterable(this);
    if (!this.#owner.isOpen) {
      this.abort();
      if (isObservable(output)) return;
    }
    // An observable cannot wait: its events are queued, and a client that does not read them loses its socket.
    const iterable = isObservable(output) ? observableToAsyncIterable(output, this.signal) : output;
    if (this.signal.aborted) {
      const closingError = await errorOf(() => close(iterable[Symbol.asyncIterator]()));
      if (closingError) messages.report(this, closingError);
      return;
    }
    messages.sendState(this, 'started');
    this.signal.addEventListener('abort', () => this.#wake?.());
    let iterator: AsyncIterator<unknown> | undefined;
    const error = await errorOf(async () => {
      iterator = iterable[Symbol.asyncIterator]();
      await this.#sendEvents(iterator);
    });
    if (error) this.abort();
    // Before the iterator is closed: one that waits without looking at its signal may never be.
    this.#end(error);
    const closingError = await errorOf(() => close(iterator));
    if (error) messages.sendError(this, error);
    if (closingError) messages.report(this, closingError);
  }

  async #sendEvents(iterator: AsyncIterator<unknown>): Promise<void> {
    const { messages } = this.#owner;
    for (;;) {
      const next = await this.#next(iterator);
      if (next === undefined || next.done === true) return;
      const event: unknown = next.value;
      if (isTrackedEnvelope(event)) messages.sendData(this, { id: event[0], data: event[1] }, event[0]);
      else messages.sendData(this, event);
    }
  }

  /** The next event; `undefined` as soon as the subscription is stopped, whatever its iterator waits for. */
  #next(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown> | undefined> {
    // Not `Promise.race`: a promise that outlives the events would keep all of them.
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      const pull = async () => {
        await this.#owner.ready();
        return this.signal.aborted ? undefined : iterator.next();
      };
      pull().then(resolve, (cause: unknown) => {
        if (!this.signal.aborted) reject(cause);
        else if (!isAbort(failureOf(cause).error)) this.#owner.messages.report(this, cause);
      });
    });
  }
}

const withLastEventId = (input: unknown, lastEventId: string): unknown =>
  isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });

async function close(iterator?: AsyncIterator<unknown> & Partial<AsyncDisposable>): Promise<void> {
  if (iterator?.[Symbol.asyncDispose]) await iterator[Symbol.asyncDispose]?.();
  else await iterator?.return?.();
}

async function errorOf(run: () => Promise<void>): Promise<TRPCError | undefined> {
  try {
    await run();
    return undefined;
  } catch (cause) {
    return failureOf(cause).error;
  }
}

/** Whether something gave up because its signal aborted. */
const isAbort = ({ cause }: TRPCError): boolean => cause?.name === 'AbortError';

const notStreamable = ({ type }: SocketCall) =>
  new TRPCError({
    code: 'UNSUPPORTED_MEDIA_TYPE',
    message: `Cannot return an async iterable or observable from a ${type} procedure with WebSockets`,
  });

const notIterable = ({ path }: SocketCall) =>
  new TRPCError({
    code: 'INTERNAL_SERVER_ERROR',
    message: `Subscription ${path} did not return an observable or a AsyncGenerator`,
  });
