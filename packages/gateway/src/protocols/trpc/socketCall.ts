// Hot path: every call on a WebSocket runs here.
import { isTrackedEnvelope, TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable, type Observable } from '@trpc/server/observable';
import type { TRPCRequestMessage } from '@trpc/server/rpc';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { isObject } from '../../http/isObject.ts';
import { performance } from '../../http/performance.ts';
import type { OutcomeReceiver } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import type { TraceIds } from '../../policies/requestRecord.ts';
import type { CallTelemetry } from '../../policies/telemetry.ts';
import { keyRequired } from '../../policies/idempotencyKey.ts';
import { scopeRejection } from '../../policies/scopes.ts';
import { Failure, failureOf, type RawInputs } from '../../procedures/execute.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { noCall, type OpenCall, type Socket } from './socket.ts';

/** One call on a WebSocket, answered as tRPC's connection handler (@trpc/server 11.25) answers it. */
export class SocketCall extends CallScope implements OpenCall, RawInputs, OutcomeReceiver {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly input: unknown;
  /** `undefined` where there is none of this type at its path. */
  readonly procedure: Procedure | undefined;
  readonly startedAt = performance.now();
  place: number | undefined = undefined;
  readonly #socket: Socket;
  /** Its place in its message. */
  readonly #index: number;
  readonly #rejection: MaybePromise<TRPCError | undefined>;
  #observed: CallTelemetry | undefined = undefined;
  #ended: PromiseWithResolvers<void> | undefined = undefined;
  #hasEnded = false;
  /** Ends a subscription's wait for its next event. */
  #stopWaiting: (() => void) | undefined = undefined;

  /** @param rejection why a policy rejects it */
  constructor(
    socket: Socket,
    id: string | number,
    { jsonrpc, method, params }: TRPCRequestMessage,
    index: number,
    rejection: MaybePromise<TRPCError | undefined>,
  ) {
    super(socket.scope.request);
    const { telemetry } = socket.scope;
    this.telemetry = telemetry && {
      trace: undefined,
      run: (run) => telemetry.run(run),
      call: (path) => (this.#observed = telemetry.call(path)),
      end: () => {},
    };
    const { input, lastEventId, path } = params;
    const procedure = socket.settings.procedures.get(path);
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.path = path;
    this.type = method;
    this.input = lastEventId === undefined ? input : withLastEventId(input, lastEventId);
    this.procedure = procedure?.type === method ? procedure : undefined;
    this.#socket = socket;
    this.#index = index;
    this.#rejection = rejection;
  }

  get trace(): TraceIds | undefined {
    return this.#observed?.trace;
  }

  whenEnded(): Promise<void> {
    return (this.#ended ??= Promise.withResolvers()).promise;
  }

  /** Its socket aborts it: a listener to its request would stay for as long as the socket is open. */
  override follow(): void {}

  override abort(reason?: unknown): void {
    super.abort(reason);
    this.#stopWaiting?.();
  }

  /** Runs the call, which is answered at once where nothing in it waits. It never throws. */
  start(): void {
    const rejection = this.#rejection;
    if (!(rejection instanceof Promise)) return this.#start(rejection);
    this.#socket.settings.calls.wait(rejection, this, (outcome) => {
      if (outcome instanceof Failure) this.#fail(outcome.error);
      else if (this.signal.aborted) this.#stopped();
      else this.#start(outcome as TRPCError | undefined);
    });
    this.#socket.started(this);
  }

  #start(rejection: TRPCError | undefined): void {
    const { context, contextError, isOpen, settings } = this.#socket;
    if (contextError) return this.#fail(contextError);
    if (this.type === 'subscription' && (this.signal.aborted || !isOpen)) {
      // It has not run, so there is no record of it.
      this.#hasEnded = true;
      return this.#stopped();
    }
    const { procedure } = this;
    if (procedure === undefined) {
      const message = `No "${this.type}"-procedure on path "${this.path}"`;
      return this.#fail(new TRPCError({ code: 'NOT_FOUND', message }));
    }
    const error =
      rejection ??
      scopeRejection(this.#socket.scope, procedure) ??
      // A message has no headers.
      (procedure.idempotencyKey === 'required' ? keyRequired() : this.#socket.rejection());
    if (error) return this.#fail(error);
    settings.calls.start(procedure, context, this, this.#index, this, this);
    if (!this.#hasEnded && this.place === undefined) this.#socket.started(this);
  }

  /** @throws {LimitError} `json-depth` */
  read(): unknown {
    const { maxJsonDepth } = this.#socket.settings.limits;
    if (isDeeper(this.input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
    return this.input;
  }

  settle(_index: number, outcome: unknown): void {
    if (outcome instanceof Failure) return this.#fail(outcome.error);
    const isStream = isAsyncIterable(outcome) || isObservable(outcome);
    if (isStream !== (this.type === 'subscription')) return this.#fail(wrongOutput(this));
    if (isStream) return void this.#stream(outcome);
    try {
      this.#socket.sendResult(this, { type: 'data', data: outcome });
      this.#end();
    } catch (cause) {
      this.#fail(cause);
    }
  }

  /** Answers with an error. A call that gave up since it was stopped, or its client has gone, has not failed. */
  #fail(cause: unknown): void {
    const { error } = failureOf(cause);
    if (error.code === 'INTERNAL_SERVER_ERROR' && isAbort(error) && this.signal.aborted)
      return this.#stopped();
    this.#end(error);
    this.#release();
    this.#socket.fail(this, error);
  }

  #stopped(): void {
    this.#end();
    this.#release();
    try {
      this.#socket.sendResult(this, { type: 'stopped' });
    } catch (cause) {
      this.#socket.reportError(noCall, cause);
    }
  }

  #end(error?: TRPCError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#socket.ended(this, error);
    this.#ended?.resolve();
  }

  /** Lets another subscription have the id. */
  #release(): void {
    if (this.type === 'subscription') this.#socket.subscriptions.delete(this.id);
  }

  /** Answers a subscription. It never rejects. */
  async #stream(output: AsyncIterable<unknown> | Observable<unknown, unknown>): Promise<void> {
    const socket = this.#socket;
    let events: AsyncIterable<unknown>;
    try {
      if (!socket.isOpen) {
        this.abort();
        if (isObservable(output)) return this.#stopped();
      }
      // An observable cannot wait: its events are queued, and a client that does not read them loses its socket.
      events = isObservable(output) ? observableToAsyncIterable(output, this.signal) : output;
      if (!this.signal.aborted) socket.sendResult(this, { type: 'started' });
    } catch (cause) {
      this.#fail(cause);
      return this.abort();
    }
    const isStopped = this.signal.aborted;
    let iterator: (AsyncIterator<unknown> & Partial<AsyncDisposable>) | undefined;
    const error = await errorOf(() => {
      iterator = events[Symbol.asyncIterator]();
      return this.#sendEvents(iterator);
    });
    if (error) this.abort();
    // Before the iterator is closed: one that waits without looking at its signal may never be.
    this.#end(isStopped ? undefined : error);
    const closingError = await errorOf(() => iterator?.[Symbol.asyncDispose]?.() ?? iterator?.return?.());
    try {
      if (error && !isStopped) socket.sendError(this, error);
    } catch (cause) {
      return this.#fail(cause);
    }
    const unsent = isStopped ? (error ?? closingError) : closingError;
    if (unsent) socket.reportError(this, unsent);
    this.#stopped();
  }

  /** Sends events until the iterator ends or the subscription is stopped, whatever the iterator waits for then. */
  #sendEvents(iterator: AsyncIterator<unknown>): Promise<void> {
    const send = async () => {
      for (;;) {
        await this.#socket.ready();
        if (this.signal.aborted) return;
        const { done, value: event } = await iterator.next();
        if (done || this.signal.aborted) return;
        if (!isTrackedEnvelope(event)) this.#socket.sendResult(this, { type: 'data', data: event });
        else {
          const [id, data] = event;
          this.#socket.sendResult(this, { type: 'data', data: { id, data }, id });
        }
      }
    };
    return new Promise((resolve, reject) => {
      this.#stopWaiting = resolve;
      send().then(resolve, (cause: unknown) => {
        if (!this.signal.aborted) reject(cause);
        else if (!isAbort(failureOf(cause).error)) this.#socket.reportError(this, cause);
      });
    });
  }
}

const withLastEventId = (input: unknown, lastEventId: string): unknown =>
  isObject(input) ? { ...input, lastEventId } : (input ?? { lastEventId });

async function errorOf(run: () => unknown): Promise<TRPCError | undefined> {
  try {
    await run();
    return undefined;
  } catch (cause) {
    return failureOf(cause).error;
  }
}

/** Whether something gave up because its signal aborted. */
const isAbort = ({ cause }: TRPCError): boolean => cause?.name === 'AbortError';

const wrongOutput = ({ path, type }: SocketCall) =>
  type === 'subscription'
    ? new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: `Subscription ${path} did not return an observable or a AsyncGenerator`,
      })
    : new TRPCError({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `Cannot return an async iterable or observable from a ${type} procedure with WebSockets`,
      });
