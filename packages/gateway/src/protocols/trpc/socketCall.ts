// Hot path: every call on a WebSocket runs here.
import { TRPCError } from '@trpc/server';
import { isObservable, observableToAsyncIterable, type Observable } from '@trpc/server/observable';
import type { TRPCRequestMessage } from '@trpc/server/rpc';
import { isTrackedEnvelope } from '../../http/trackedEnvelope.ts';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { discardOutput } from '../../http/asyncValues.ts';
import { discardStream, isAsyncIterable, OutgoingResponse } from '../../http/response.ts';
import { performance } from '../../http/eventLoop.ts';
import type { OutcomeReceiver } from '../../calls/deadlines.ts';
import { CallContext } from '../../calls/requestContext.ts';
import {
  admit,
  complete,
  policyError,
  settle,
  type CallOutcome,
  type Policy,
  type PolicyContext,
  type PolicySteps,
} from '../../calls/policy.ts';
import type { TraceIds } from '../../calls/requestRecord.ts';
import type { CallTelemetry } from '../../calls/telemetry.ts';
import { keyRequired } from '../../calls/idempotencyKey.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import { Failure, failureOf, type CallSource } from '../../procedures/execute.ts';
import { codeOf, errorStatusOf, originalOf } from '../../procedures/clientError.ts';
import { jsonError } from '../../procedures/jsonLimits.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import { type CallInfo, type OpenCall, type Socket } from './socket.ts';
import { blobError } from './trpcErrors.ts';
import { withLastEventId } from './trpcRequest.ts';

/** A message, or a part of one, that starts a call. */
export type CallMessage = TRPCRequestMessage & { readonly id: string | number };

/** The output of a subscription. */
type CallEvents = AsyncIterable<unknown> | Observable<unknown, unknown>;

/** A call as policies see it. Its outcome is set before they complete it, and when it has ended. */
type SocketPolicyContext = Omit<PolicyContext, 'isStream' | 'outcomes'> & {
  isStream: boolean;
  outcomes: readonly CallOutcome[];
};

/** One call on a WebSocket. Its messages are the same as from tRPC's connection handler (@trpc/server 11.25). */
export class SocketCall extends CallContext implements OpenCall, CallSource, OutcomeReceiver {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly input: unknown;
  /** `undefined` if there is no procedure of this type at the path. */
  readonly procedure: Procedure | undefined;
  readonly batch: CallInfo['batch'];
  readonly startedAt = performance.now();
  runningIndex: number | undefined = undefined;
  /** The bytes of the part of the message that started the call, if it is an open subscription. */
  inputBytes = 0;
  readonly #socket: Socket;
  /** The index of the call in its message. */
  readonly #index: number;
  /** The error of a policy that rejects the call. It is set before the call starts. */
  rejection: MaybePromise<TRPCError | undefined> = undefined;
  #callTelemetry: CallTelemetry | undefined = undefined;
  #ended: PromiseWithResolvers<void> | undefined = undefined;
  #hasEnded = false;
  /** Whether it is a subscription that is starting, which `SubscriptionStarts` counts. */
  #isStarting = false;
  /** The call as the policies of the service see it; `undefined` without any. */
  #policyContext: SocketPolicyContext | undefined = undefined;
  /** Whether its events are sent, and policies of the service see its outcome when it has ended. */
  #isStreaming = false;

  /**
   * @param index the index of the call in its message
   * @param batch the size of the results of its message, if that is a batch
   */
  constructor(
    socket: Socket,
    { id, jsonrpc, method, params }: CallMessage,
    index: number,
    batch: CallInfo['batch'],
  ) {
    super(socket.context.request);
    const { telemetry } = socket.context;
    this.telemetry = telemetry && { call: (called) => (this.#callTelemetry = telemetry.call(called)) };
    const { input, lastEventId, path } = params;
    const procedure = socket.settings.procedures.get(path);
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.path = path;
    this.type = method;
    this.batch = method === 'subscription' ? undefined : batch;
    this.input = lastEventId === undefined ? input : withLastEventId(input, lastEventId);
    this.procedure = procedure?.type === method ? procedure : undefined;
    this.#socket = socket;
    this.#index = index;
  }

  get trace(): TraceIds | undefined {
    return this.#callTelemetry?.trace;
  }

  get readsIterables(): boolean {
    return this.type === 'subscription';
  }

  whenEnded(): Promise<void> {
    return (this.#ended ??= Promise.withResolvers()).promise;
  }

  /** Does nothing, since the socket aborts its calls: a listener on its request would stay until the socket closes. */
  override follow(): void {}

  /**
   * Runs the call; a subscription when others have started. If all its steps are synchronous, the result is sent before
   * this returns. It never throws.
   */
  start(): void {
    if (this.type === 'subscription' && !this.#isRejected)
      this.#socket.settings.starts.add(this, this.#socket);
    else this.#begin();
  }

  /** Whether it is known that the procedure will not run. */
  get #isRejected(): boolean {
    const rejection = this.rejection;
    const isSettled = rejection !== undefined && !(rejection instanceof Promise);
    return isSettled || this.procedure === undefined || this.#socket.contextError !== undefined;
  }

  startNow(): void {
    this.#isStarting = true;
    this.#begin();
  }

  reject(error: TRPCError): void {
    this.rejection = error;
    this.#begin();
  }

  #begin(): void {
    if (this.#socket.settings.policies) this.#policyContext = this.#toPolicyContext();
    const rejection = this.rejection;
    if (rejection instanceof Promise) this.#wait(rejection, (settled) => this.#start(settled));
    else this.#start(rejection);
  }

  #toPolicyContext(): SocketPolicyContext {
    const { procedure } = this;
    const { data, identity, protocol, request, requestId } = this.#socket.context;
    const about = { identity, protocol, request, requestId, procedures: procedure ? [procedure] : [] };
    const outcome = { outcomes: [], isReplay: false, isStream: false };
    // A copy of `data`, since the calls of a socket run concurrently.
    return { ...about, ...outcome, kind: 'call', data: { ...data } };
  }

  /** Waits for a policy. */
  #wait<Result>(promise: Promise<Result>, next: (result: Result) => void): void {
    this.#socket.settings.calls.wait(promise, this, (outcome) => {
      if (outcome instanceof Failure) this.settle(0, outcome);
      else if (this.signal.aborted) this.settle(0, new Failure(stoppedCall));
      else next(outcome as Result);
    });
    if (this.runningIndex === undefined) this.#socket.callStarted(this);
  }

  #start(rejection: TRPCError | undefined): void {
    const { contextError, isOpen, settings } = this.#socket;
    const { policies } = settings;
    const { procedure } = this;
    if (contextError) return this.settle(0, new Failure(contextError));
    if (this.type === 'subscription' && (this.signal.aborted || !isOpen)) {
      // A call that never ran is not recorded.
      this.#hasEnded = true;
      return this.#endStopped();
    }
    // An unknown procedure is 404 after the policies, also over a limit.
    const error =
      procedure &&
      (rejection ??
        (procedure.scopes && scopeRejection(this.#socket.context, procedure.scopes)) ??
        // A message has no headers.
        (procedure.idempotencyKey === 'required' ? keyRequired() : this.#socket.rejection(this)));
    if (error) return this.settle(0, new Failure(error));
    if (policies === undefined || this.#policyContext === undefined) return this.#run();
    const next = (rejected: TRPCError | undefined) => {
      if (rejected) this.settle(0, new Failure(rejected));
      else this.#run();
    };
    const admission = admit(policies.admitting, this.#policyContext);
    if (admission instanceof Promise) this.#wait(admission, next);
    else next(admission);
  }

  #run(): void {
    const { procedure } = this;
    if (procedure === undefined) {
      const message = `No "${this.type}"-procedure on path "${this.path}"`;
      return this.settle(0, new Failure(new TRPCError({ code: 'NOT_FOUND', message })));
    }
    this.#socket.settings.calls.start(procedure, this, this.#index, this);
    if (!this.#hasEnded && this.runningIndex === undefined) this.#socket.callStarted(this);
  }

  get ctx(): unknown {
    return this.#socket.ctx;
  }

  /** @throws {LimitError} `json-depth`, `json-containers` */
  read(): unknown {
    const error = jsonError(this.input, this.#socket.settings.limits);
    if (error) throw error;
    return this.input;
  }

  settle(_index: number, outcome: unknown): void {
    if (outcome instanceof Failure) return this.#settle(outcome);
    const isStream = isAsyncIterable(outcome) || isObservable(outcome);
    if (isStream !== (this.type === 'subscription')) {
      return this.#settle(new Failure(outputTypeError(this)));
    }
    if (isStream) return this.#settle(outcome);
    const error = outcome instanceof Blob && blobError(this.procedure);
    if (error) return this.#settle(new Failure(error));
    let frame: string;
    try {
      // Before the policies, which see an output that cannot be sent as an error.
      frame = this.#socket.encodeData(this, outcome);
    } catch (cause) {
      return this.#settle(failureOf(cause));
    }
    this.#settle(frame);
  }

  /** Settles the call with a `Failure`, the events of a subscription, or the frame of its output. */
  #settle(outcome: Failure | CallEvents | string): void {
    const { policies } = this.#socket.settings;
    if (policies && this.#policyContext) void this.#complete(policies, this.#policyContext, outcome);
    else this.#send(outcome);
  }

  #send(outcome: Failure | CallEvents | string): void {
    if (outcome instanceof Failure) return this.#endWithError(outcome.error);
    if (typeof outcome !== 'string') return void this.#stream(outcome);
    try {
      this.#socket.send(outcome);
      this.#end();
    } catch (cause) {
      this.#endWithError(cause);
    }
  }

  /**
   * Runs the policies of the service that complete a response and those that see its outcome, then sends the outcome. It
   * never rejects.
   */
  async #complete(
    { completing, settling }: PolicySteps<Policy>,
    context: SocketPolicyContext,
    outcome: Failure | CallEvents | string,
  ): Promise<void> {
    const { calls } = this.#socket.settings;
    let completed = outcome;
    context.isStream = !(outcome instanceof Failure) && typeof outcome !== 'string';
    try {
      const status = this.#setOutcome(context, outcome);
      const pending = complete(completing, context, new OutgoingResponse(status));
      if (pending instanceof Promise) await calls.waitForPolicy(pending, this);
    } catch (cause) {
      if (isAsyncIterable(outcome)) void discardStream(outcome);
      completed = new Failure(policyError(cause));
      this.#setOutcome(context, completed);
    }
    this.#isStreaming = !(completed instanceof Failure) && typeof completed !== 'string';
    if (!this.#isStreaming) {
      try {
        const pending = settle(settling, context);
        if (pending) await calls.waitForPolicy(pending, this);
      } catch (cause) {
        completed = new Failure(policyError(cause));
      }
    }
    this.#send(completed);
  }

  /** Sets the outcome that policies see. Returns its status. */
  #setOutcome(context: SocketPolicyContext, outcome: Failure | CallEvents | string): number {
    const { procedure } = this;
    let status = 200;
    let code = typeof outcome === 'string' ? 'OK' : undefined;
    if (outcome instanceof Failure) {
      const isStopped = this.#isStopped(outcome.error);
      status = isStopped ? 499 : errorStatusOf(outcome.error);
      code = isStopped ? 'CLIENT_CLOSED_REQUEST' : codeOf(outcome.error);
    }
    context.outcomes = [{ procedure, code }];
    return status;
  }

  /** Whether an error is the consequence of a stop of the call, or of a disconnect. */
  #isStopped(error: TRPCError): boolean {
    return isAbort(originalOf(error)) && this.signal.aborted;
  }

  /**
   * Ends the call with an error; without one, if the call was aborted since it was stopped or its client disconnected.
   */
  #endWithError(cause: unknown): void {
    const { error } = failureOf(cause);
    if (this.#isStopped(error)) return this.#endStopped();
    this.#release(error);
    this.#socket.reportAndSendError(this, error);
  }

  #endStopped(): void {
    this.#release();
    this.#socket.sendState(this, 'stopped');
  }

  #end(error?: TRPCError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#isStreaming && this.#policyContext) this.#settleStream(this.#policyContext, error);
    else this.#socket.callEnded(this, error);
    this.#ended?.resolve();
  }

  /** Reports the outcome of a subscription to the policies of the service, then its record. */
  #settleStream(context: SocketPolicyContext, error: TRPCError | undefined): void {
    const { calls, policies } = this.#socket.settings;
    if (error) this.#setOutcome(context, new Failure(error));
    else if (!this.signal.aborted) this.#setOutcome(context, 'OK');
    const pending = settle(policies?.settling ?? [], context);
    const ended = (cause?: unknown) => this.#socket.callEnded(this, error, cause);
    if (pending === undefined) ended();
    else void calls.waitForPolicy(pending, this).then(ended, ended);
  }

  /** Ends the call, and frees its id for another subscription. */
  #release(error?: TRPCError): void {
    this.#end(error);
    this.endStart();
    const { subscriptions } = this.#socket;
    // A rejected subscription may have the id of an open one.
    if (subscriptions.get(this.id) !== this) return;
    subscriptions.delete(this.id);
    this.#socket.subscriptionBytes -= this.inputBytes;
  }

  endStart(): void {
    if (!this.#isStarting) return;
    this.#isStarting = false;
    this.#socket.settings.starts.ended();
  }

  /** Streams the events of a subscription. It never rejects. */
  async #stream(output: AsyncIterable<unknown> | Observable<unknown, unknown>): Promise<void> {
    const socket = this.#socket;
    this.endStart();
    let events: AsyncIterable<unknown>;
    try {
      if (!socket.isOpen) {
        this.abort();
        if (isObservable(output)) return this.#endStopped();
      }
      // Observables have no backpressure: their events are queued, and the socket of a client that does not read is
      // closed.
      events = isObservable(output) ? observableToAsyncIterable(output, this.signal) : output;
    } catch (cause) {
      this.#endWithError(cause);
      return this.abort();
    }
    const isStopped = this.signal.aborted;
    if (!isStopped) socket.sendState(this, 'started');
    let iterator: (AsyncIterator<unknown> & Partial<AsyncDisposable>) | undefined;
    const error = await this.#catchError(() => {
      iterator = events[Symbol.asyncIterator]();
      return this.#sendEvents(iterator);
    });
    if (error) this.abort();
    // The call ends before its iterator is closed, since an iterator that ignores its signal may never finish.
    this.#end(isStopped ? undefined : error);
    const closingError = await this.#catchError(
      () => iterator?.[Symbol.asyncDispose]?.() ?? iterator?.return?.(),
    );
    try {
      if (error && !isStopped) socket.sendError(this, error);
    } catch (cause) {
      return this.#endWithError(cause);
    }
    const unsent = isStopped ? (error ?? closingError) : closingError;
    if (unsent) socket.reportError(this, unsent);
    this.#endStopped();
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
    discardOutput(isTrackedEnvelope(event) ? event[1] : event);
    if (done || this.signal.aborted) return true;
    if (isTrackedEnvelope(event)) {
      const [id, data] = event;
      this.#socket.sendEvent(this, { id, data }, id);
    } else this.#socket.sendEvent(this, event);
    return false;
  }

  /**
   * Sends events until the iterator ends or the subscription is stopped, without waiting for a pending `next()` then.
   */
  #sendEvents(iterator: AsyncIterator<unknown>): Promise<void> {
    const send = async () => {
      for (;;) {
        await this.#socket.ready();
        if (this.signal.aborted) return;
        // In a variable, the event would stay in memory until the next one.
        if (this.#sendEvent(await iterator.next())) return;
      }
    };
    return new Promise((resolve, reject) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
      send().then(resolve, (cause: unknown) => {
        if (!this.signal.aborted) reject(cause);
        else if (!isAbort(failureOf(cause).error)) this.#socket.reportError(this, cause);
      });
    });
  }
}

/** The error of a call that was stopped, or whose client disconnected, before it ran. */
const stoppedCall = failureOf(new DOMException('The call was stopped.', 'AbortError')).error;

/** Whether an error is the result of an aborted signal. */
const isAbort = ({ cause, code }: TRPCError): boolean =>
  code === 'INTERNAL_SERVER_ERROR' && cause?.name === 'AbortError';

const outputTypeError = ({ path, type }: SocketCall) =>
  type === 'subscription'
    ? new TRPCError({
        code: 'INTERNAL_SERVER_ERROR',
        message: `Subscription ${path} did not return an observable or a AsyncGenerator`,
      })
    : new TRPCError({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `Cannot return an async iterable or observable from a ${type} procedure with WebSockets`,
      });
