// Hot path: every call on a WebSocket runs here.
import { TRPCError } from '@trpc/server';
import { isObservable } from '@trpc/server/observable';
import type { TRPCRequestMessage } from '@trpc/server/rpc';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { isAsyncIterable } from '../../http/response.ts';
import { performance } from '../../http/eventLoop.ts';
import type { OutcomeReceiver } from '../../calls/deadlines.ts';
import { CallContext } from '../../calls/requestContext.ts';
import type { CallTelemetry } from '../../calls/telemetry.ts';
import { keyRequired } from '../../calls/idempotencyKey.ts';
import { scopeRejection } from '../../auth/scopes.ts';
import { Failure, failureOf, type CallSource } from '../../procedures/execute.ts';
import { jsonError } from '../../procedures/jsonLimits.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import type { CallInfo, OpenCall } from './openCalls.ts';
import { isStopped, type Socket } from './socket.ts';
import { SocketCallPolicies, type CallResult } from './socketCallPolicies.ts';
import { SocketSubscription } from './socketSubscription.ts';
import { blobError } from './trpcErrors.ts';
import { withLastEventId } from './trpcRequest.ts';

/** A message, or a part of one, that starts a call. */
export type CallMessage = TRPCRequestMessage & { readonly id: string | number };

/** One call on a WebSocket. Its messages are the same as from tRPC's connection handler (@trpc/server 11.25). */
export class SocketCall extends CallContext implements OpenCall, CallSource, OutcomeReceiver {
  readonly id: string | number;
  readonly jsonrpc: '2.0' | undefined;
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly input: unknown;
  readonly ctx: unknown;
  /** `undefined` if there is no procedure of this type at the path. */
  readonly procedure: Procedure | undefined;
  readonly batch: CallInfo['batch'];
  readonly startedAt = performance.now();
  runningIndex: number | undefined = undefined;
  /** The error that rejects the call. It is set before the call starts. */
  rejection: MaybePromise<TRPCError | undefined> = undefined;
  callTelemetry: CallTelemetry | undefined = undefined;
  /** `undefined` for a query or a mutation. */
  readonly subscription: SocketSubscription | undefined;
  readonly #socket: Socket;
  readonly #index: number;
  /** `undefined` without policies of the service. */
  readonly #policies: SocketCallPolicies | undefined;
  #ended: PromiseWithResolvers<void> | undefined = undefined;
  #hasEnded = false;

  /** `index` is the call's place in its message, `batch` the size of the results, if that is a batch. */
  constructor(
    socket: Socket,
    { id, jsonrpc, method, params }: CallMessage,
    index: number,
    batch: CallInfo['batch'],
  ) {
    super(socket.context.request);
    const { telemetry } = socket.context;
    if (telemetry) this.telemetry = { call: (called) => (this.callTelemetry = telemetry.call(called)) };
    const { policies, procedures } = socket.settings;
    const { input, lastEventId, path } = params;
    const procedure = procedures.get(path);
    this.id = id;
    this.jsonrpc = jsonrpc;
    this.path = path;
    this.type = method;
    this.batch = method === 'subscription' ? undefined : batch;
    this.input = lastEventId === undefined ? input : withLastEventId(input, lastEventId);
    this.ctx = socket.ctx;
    this.procedure = procedure?.type === method ? procedure : undefined;
    this.#socket = socket;
    this.#index = index;
    this.subscription = method === 'subscription' ? new SocketSubscription(this, socket) : undefined;
    this.#policies = policies && new SocketCallPolicies(policies, this, socket);
  }

  get readsIterables(): boolean {
    return this.subscription !== undefined;
  }

  whenEnded(): Promise<void> {
    return (this.#ended ??= Promise.withResolvers()).promise;
  }

  /** Does nothing, since the socket aborts its calls: a listener on its request would stay until the socket closes. */
  override follow(): void {}

  /** Runs the call; a subscription after others. If all is synchronous, it sends the result. Never throws. */
  start(): void {
    const { procedure, rejection, subscription } = this;
    const { contextError, settings } = this.#socket;
    const isRejected = rejection !== undefined && !(rejection instanceof Promise);
    // A subscription of which it is known that it will not run needs no turn.
    if (subscription === undefined || isRejected || procedure === undefined || contextError) this.startNow();
    else settings.starts.add(subscription, this.#socket);
  }

  startNow(): void {
    const { procedure, rejection } = this;
    const { contextError, isOpen } = this.#socket;
    if (rejection instanceof Promise) {
      return this.#wait(rejection, (settled) => {
        this.rejection = settled;
        this.startNow();
      });
    }
    if (contextError) return this.settle(0, new Failure(contextError));
    if (this.subscription && (this.signal.aborted || !isOpen)) {
      // A call that never ran is not recorded.
      this.#hasEnded = true;
      return this.endStopped();
    }
    // An unknown procedure is 404 after the policies, also over a limit.
    const error =
      procedure &&
      (rejection ??
        (procedure.scopes && scopeRejection(this.#socket.context, procedure.scopes)) ??
        // A message has no headers.
        (procedure.idempotencyKey === 'required' ? keyRequired() : this.#socket.rejection(this)));
    if (error) return this.settle(0, new Failure(error));
    const admission = this.#policies?.admit();
    if (admission instanceof Promise) this.#wait(admission, (rejected) => this.#run(rejected));
    else this.#run(admission);
  }

  #wait<Result>(promise: Promise<Result>, next: (result: Result) => void): void {
    this.#socket.settings.calls.wait(promise, this, (outcome) => {
      if (outcome instanceof Failure) this.settle(0, outcome);
      else if (this.signal.aborted) this.settle(0, new Failure(stoppedCall));
      else next(outcome as Result);
    });
    if (this.runningIndex === undefined) this.#socket.callStarted(this);
  }

  #run(rejection: TRPCError | undefined): void {
    const { procedure } = this;
    if (rejection) return this.settle(0, new Failure(rejection));
    if (procedure === undefined) {
      const message = `No "${this.type}"-procedure on path "${this.path}"`;
      return this.settle(0, new Failure(new TRPCError({ code: 'NOT_FOUND', message })));
    }
    this.#socket.settings.calls.start(procedure, this, this.#index, this);
    if (!this.#hasEnded && this.runningIndex === undefined) this.#socket.callStarted(this);
  }

  /** @throws {LimitError} `json-depth`, `json-containers` */
  read(): unknown {
    const error = jsonError(this.input, this.#socket.settings.limits);
    if (error) throw error;
    return this.input;
  }

  settle(_index: number, outcome: unknown): void {
    const result = this.#resultOf(outcome);
    if (this.#policies) void this.#policies.complete(result).then((completed) => this.#send(completed));
    else this.#send(result);
  }

  /** Encodes an output before the policies run, which see one that cannot be sent as an error. */
  #resultOf(outcome: unknown): CallResult {
    if (outcome instanceof Failure) return outcome;
    const isStream = isAsyncIterable(outcome) || isObservable(outcome);
    if (isStream !== (this.subscription !== undefined)) return new Failure(outputTypeError(this));
    if (isStream) return outcome;
    const error = outcome instanceof Blob && blobError(this.procedure);
    if (error) return new Failure(error);
    try {
      return this.#socket.encodeData(this, outcome);
    } catch (cause) {
      return failureOf(cause);
    }
  }

  #send(result: CallResult): void {
    if (result instanceof Failure) return this.endWithError(result.error);
    if (typeof result !== 'string') return void this.subscription?.stream(result);
    try {
      this.#socket.send(result);
      this.end();
    } catch (cause) {
      this.endWithError(cause);
    }
  }

  /** Ends the call with an error; without one, if the call was aborted since it was stopped or its client disconnected. */
  endWithError(cause: unknown): void {
    const { error } = failureOf(cause);
    if (isStopped(error, this)) return this.endStopped();
    this.end(error);
    this.subscription?.release();
    this.#socket.reportAndSendError(this, error);
  }

  endStopped(): void {
    this.end();
    this.subscription?.release();
    this.#socket.sendState(this, 'stopped');
  }

  end(error?: TRPCError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const settling = this.#policies?.settleStream(error);
    if (settling) this.#endLater(settling, error);
    else this.#socket.callEnded(this, error);
    this.#ended?.resolve();
  }

  #endLater(settling: Promise<unknown>, error: TRPCError | undefined): void {
    void settling.then((cause) => this.#socket.callEnded(this, error, cause));
  }
}

/** The error of a call that was stopped, or whose client disconnected, before it ran. */
const stoppedCall = failureOf(new DOMException('The call was stopped.', 'AbortError')).error;

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
