// Hot path: every call on a WebSocket runs here. The global `performance` is a getter, and each reading costs 50 ns.
import { performance } from 'node:perf_hooks';
import { getTRPCErrorFromUnknown, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { TRPCRequestMessage } from '@trpc/server/rpc';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Calls, OutcomeReceiver, RawInputs } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import { Failed } from '../../procedures/failed.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import type { CallInfo, SocketMessages } from './socketMessages.ts';

/** A message that asks for a call. */
type CallMessage = TRPCRequestMessage & { readonly id: string | number };

/** One call on a WebSocket: its input, its signal, its state, and where its outcome goes. */
export class SocketCall extends CallScope implements CallInfo, RawInputs, OutcomeReceiver {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly input: unknown;
  /** `undefined` where there is none of this type at its path. */
  readonly procedure: ProcedureDefinition | undefined;
  /** Its place in its message. */
  readonly index: number;
  /** By `performance.now()`; `undefined` for a call that is rejected before it starts. */
  startedAt: number | undefined = undefined;
  isSettled = false;
  isReported = false;
  /** Ends a subscription's wait for its next event. */
  wake = () => {};
  readonly #calls: SocketCalls;

  constructor(
    calls: SocketCalls,
    request: HttpRequest,
    { id, jsonrpc, method, params }: CallMessage,
    procedure: ProcedureDefinition | undefined,
    index: number,
  ) {
    super(request);
    const { input, lastEventId } = params;
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.path = params.path;
    this.type = method;
    this.input = lastEventId === undefined ? input : withLastEventId(input, lastEventId);
    this.procedure = procedure?.type === method ? procedure : undefined;
    this.index = index;
    this.#calls = calls;
  }

  get isSubscription(): boolean {
    return this.type === 'subscription';
  }

  /** Its socket aborts it: a listener to its request would stay for as long as the socket is open. */
  override follow(): void {}

  /** @throws {LimitError} `json-depth` */
  read(): unknown {
    return this.#calls.checked(this.input);
  }

  settle(_index: number, outcome: unknown): void {
    this.#calls.settle(this, outcome);
  }
}

export interface SocketCallsOptions {
  readonly calls: Calls;
  readonly messages: SocketMessages;
  /** The request that opened the socket. */
  readonly request: HttpRequest;
  readonly maxJsonDepth: number;
  /** Why no further call may start. */
  readonly rejection: () => TRPCError | undefined;
  /** What a subscription waits for before its next event: its client reads too slowly. */
  readonly ready: () => Promise<void> | undefined;
  /** Called once per call when it has ended, before its client gets the answer. */
  readonly onEnd: (call: SocketCall, error: TRPCError | undefined) => void;
}

/** Runs the calls of one WebSocket and answers each, as tRPC's connection handler (@trpc/server 11.25) does. */
export class SocketCalls {
  /** Why there is no context: the error of every call. */
  contextError: TRPCError | undefined = undefined;
  readonly #options: SocketCallsOptions;
  /** Queries and mutations that are waited for. */
  readonly #pending = new Set<SocketCall>();
  /** Subscriptions that have started and not ended. */
  readonly #streams = new Set<SocketCall>();
  /** Subscriptions by their ids, from when they are read until their iterators are closed. */
  readonly #subscriptions = new Map<string | number, SocketCall>();

  constructor(options: SocketCallsOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#pending.size + this.#streams.size;
  }

  /** How many queries and mutations are in flight. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * A call to be started. A subscription has its id from now on, so that a message behind it, in the same batch even, can
   * stop it.
   * @returns `undefined` where a running subscription has the id, which the client is told
   */
  create(
    message: CallMessage,
    procedure: ProcedureDefinition | undefined,
    index: number,
  ): SocketCall | undefined {
    const { messages, request } = this.#options;
    const call = new SocketCall(this, request, message, procedure, index);
    if (!call.isSubscription) return call;
    if (this.#subscriptions.has(call.id)) {
      messages.fail(call, new TRPCError({ code: 'BAD_REQUEST', message: `Duplicate id ${call.id}` }));
      return undefined;
    }
    this.#subscriptions.set(call.id, call);
    return call;
  }

  stop(id: string | number): void {
    this.#subscriptions.get(id)?.abort();
  }

  /** The client has gone: aborts every call. */
  abort(): void {
    const reason = new DOMException('The client went away.', 'AbortError');
    for (const call of this.#pending) call.abort(reason);
    for (const call of this.#subscriptions.values()) call.abort(reason);
  }

  /** Starts a call, which is answered at once where nothing in it waits. It never throws. */
  start(call: SocketCall): void {
    const { calls, messages, rejection } = this.#options;
    const { isSubscription, path, procedure } = call;
    if (this.contextError) return this.#fail(call, this.contextError);
    if (isSubscription && (call.signal.aborted || !messages.isOpen)) return this.#stopped(call);
    if (procedure === undefined) {
      const message = `No "${call.type}"-procedure on path "${path}"`;
      return this.#fail(call, new TRPCError({ code: 'NOT_FOUND', message }));
    }
    const error = rejection();
    if (error) return this.#fail(call, error);
    call.startedAt = performance.now();
    if (isSubscription) this.#streams.add(call);
    calls.start(procedure, messages.context, call, call.index, call, call);
    if (!isSubscription && !call.isSettled) this.#pending.add(call);
  }

  /** @throws {LimitError} `json-depth` */
  checked(input: unknown): unknown {
    const { maxJsonDepth } = this.#options;
    if (isDeeper(input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return input;
  }

  /** Takes what a procedure returned or failed with. */
  settle(call: SocketCall, outcome: unknown): void {
    call.isSettled = true;
    if (outcome instanceof Failed) this.#fail(call, outcome.error);
    else if (call.isSubscription) void this.#stream(call, outcome);
    else this.#answer(call, outcome);
  }

  #answer(call: SocketCall, output: unknown): void {
    const { messages } = this.#options;
    let frame: string | Uint8Array | undefined;
    try {
      if (isAsyncIterable(output) || isObservable(output)) throw notStreamable(call);
      frame = messages.encodeOutput(call, output);
    } catch (cause) {
      return this.#fail(call, cause);
    }
    this.#end(call);
    if (frame !== undefined) messages.send(frame);
  }

  /** Answers a call with its error. One that gave up since it was stopped, or its client has gone, has not failed. */
  #fail(call: SocketCall, cause: unknown): void {
    const error = getTRPCErrorFromUnknown(cause);
    if (error.code === 'INTERNAL_SERVER_ERROR' && isAbort(error) && call.signal.aborted)
      return this.#stopped(call);
    this.#end(call, error);
    if (call.isSubscription) this.#subscriptions.delete(call.id);
    this.#options.messages.fail(call, error);
  }

  #stopped(call: SocketCall): void {
    if (call.startedAt !== undefined) this.#end(call);
    this.#subscriptions.delete(call.id);
    this.#options.messages.sendState(call, 'stopped');
  }

  /** Reports a call, once it is no longer in flight. */
  #end(call: SocketCall, error?: TRPCError): void {
    if (call.isReported) return;
    call.isReported = true;
    (call.isSubscription ? this.#streams : this.#pending).delete(call);
    this.#options.onEnd(call, error);
  }

  /** Sends the events of a subscription. It never rejects. */
  async #stream(call: SocketCall, output: unknown): Promise<void> {
    try {
      await this.#iterate(call, output);
      this.#stopped(call);
    } catch (cause) {
      this.#fail(call, cause);
    }
  }

  /** @throws what the client has not been told */
  async #iterate(call: SocketCall, output: unknown): Promise<void> {
    const { messages } = this.#options;
    if (!isAsyncIterable(output) && !isObservable(output)) throw notIterable(call);
    if (!messages.isOpen) {
      call.abort();
      if (isObservable(output)) return;
    }
    const { signal } = call;
    // An observable cannot wait: its events are queued, and a client that does not read them loses its socket.
    const iterable = isObservable(output) ? observableToAsyncIterable(output, signal) : output;
    if (signal.aborted) {
      const closingFailure = await errorOf(() => close(iterable[Symbol.asyncIterator]()));
      if (closingFailure) messages.report(call, closingFailure);
      return;
    }
    messages.sendState(call, 'started');
    signal.addEventListener('abort', () => call.wake());
    let iterator: AsyncIterator<unknown> | undefined;
    const failure = await errorOf(async () => {
      iterator = iterable[Symbol.asyncIterator]();
      await this.#sendEvents(call, iterator);
    });
    if (failure) call.abort();
    // Before the iterator is closed: one that waits without looking at its signal may never be.
    this.#end(call, failure);
    const closingFailure = await errorOf(() => close(iterator));
    if (failure) messages.sendError(call, failure);
    if (closingFailure) messages.report(call, closingFailure);
  }

  async #sendEvents(call: SocketCall, iterator: AsyncIterator<unknown>): Promise<void> {
    const { messages } = this.#options;
    for (;;) {
      const result = await this.#next(call, iterator);
      if (result === undefined || result.done === true) return;
      messages.sendEvent(call, result.value);
    }
  }

  /** The next event; `undefined` as soon as the subscription is stopped, whatever its iterator waits for. */
  #next(call: SocketCall, iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown> | undefined> {
    const { messages, ready } = this.#options;
    // Not `Promise.race`: a promise that outlives the events would keep all of them.
    return new Promise((resolve, reject) => {
      call.wake = () => resolve(undefined);
      const pull = async () => {
        await ready();
        return call.signal.aborted ? undefined : iterator.next();
      };
      pull().then(resolve, (cause: unknown) => {
        if (!call.signal.aborted) reject(cause);
        else if (!isAbort(getTRPCErrorFromUnknown(cause))) messages.report(call, cause);
      });
    });
  }
}

/** What a reconnecting client says of itself becomes part of the input, as far as that is an object or missing. */
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
    return getTRPCErrorFromUnknown(cause);
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
