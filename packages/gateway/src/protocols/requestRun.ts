// Hot path: one object per request with calls, and no closure or promise unless something waits.
import type { TRPCRequestInfo } from '@trpc/server/http';
import type { MaybePromise } from '../http/maybePromise.ts';
import { OutgoingResponse } from '../http/response.ts';
import type { OutcomeReceiver } from '../calls/deadlines.ts';
import type { IdempotencyReservation, KeyedCall } from '../policies/idempotency.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import { Failure, failureOf } from '../procedures/execute.ts';
import type { ProtocolSettings } from './protocolSettings.ts';

/** Runs the calls of one request. Each protocol, and each format of responses, is a subclass. */
export abstract class RequestRun implements OutcomeReceiver {
  protected abstract readonly settings: ProtocolSettings;
  abstract readonly context: RequestContext;
  /** The result of `createContext`; `undefined` until it was created, and if that has failed. */
  ctx: unknown = undefined;
  /** The `Idempotency-Key`, if a called procedure takes one. */
  protected key: string | undefined = undefined;
  /** The reserved key of a call whose response the gateway stores. */
  protected reservation: IdempotencyReservation | undefined = undefined;
  #response: OutgoingResponse | undefined = undefined;
  /** Resolves the promise of the response, if `respond` has returned one. */
  #resolve: ((response: OutgoingResponse) => void) | undefined = undefined;

  /** Responds to the request, synchronously if nothing waits. It never throws and never rejects. */
  respond(): MaybePromise<OutgoingResponse> {
    this.receive();
    return this.#response ?? this.#respondLater();
  }

  #respondLater(): Promise<OutgoingResponse> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Receives the body, then calls `createContext`. It never throws. */
  protected abstract receive(): void;

  /** Reads the `Idempotency-Key` of a request that may have one. An error that it throws is the error of the calls. */
  protected abstract readKey(): string | undefined;

  /** Starts the calls. @param ctx the context, or a `Failure` */
  protected abstract start(ctx: unknown): void;

  abstract settle(index: number, outcome: unknown): void;

  /** Creates the context, then starts the calls. `takesKey`: whether one takes an `Idempotency-Key`. */
  protected createContext(takesKey: boolean, info: TRPCRequestInfo | undefined): void {
    const { context } = this;
    let ctx: unknown;
    let isPending = false;
    try {
      if (takesKey) this.key = this.readKey();
      ctx = this.settings.createContext({
        request: context.request,
        identity: context.identity,
        via: context.via,
        response: context.response,
        requestId: context.requestId,
        data: context.data,
        idempotencyKey: this.key,
        info,
      });
      // `isThenable`, written out, since every request runs it.
      isPending = typeof (ctx as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
    } catch (cause) {
      ctx = failureOf(cause);
    }
    if (isPending) this.#startLater(ctx as PromiseLike<unknown>);
    else this.start(ctx);
  }

  #startLater(pending: PromiseLike<unknown>): void {
    this.settings.calls.wait(pending, this.context, (outcome) => this.start(outcome));
  }

  /** Reserves the key of a single call, then starts the call, or ends with the response of an earlier one. */
  protected reserve(call: KeyedCall, start: () => void): void {
    this.settings.idempotency?.reserve(this.context, call, (begun) => {
      if (begun instanceof Failure) this.settle(0, begun);
      else if (begun instanceof OutgoingResponse) {
        this.context.response.replayed();
        if (begun.code !== undefined) this.context.outcome.endedWith(begun.code);
        this.replay(begun);
      } else {
        this.reservation = begun;
        start();
      }
    });
  }

  /** Ends the request with the stored response to an earlier one with the same key. */
  protected replay(stored: OutgoingResponse): void {
    this.finish(stored);
  }

  /** Stores the response of a call that has ended after its deadline, to replay it when the client retries. */
  settleLate(index: number, outcome: unknown): void {
    if (this.reservation === undefined) return;
    this.context.outcome.isLate = true;
    this.context.outcome.errorCode = undefined;
    if (!(outcome instanceof Failure)) return this.settle(index, outcome);
    this.reservation.settle(outcome);
    void this.reservation.complete(undefined, this.context);
  }

  /** Ends the request with its response. The response to a call with a key is stored before. */
  protected finish(response: OutgoingResponse): void {
    const { reservation, context } = this;
    if (reservation === undefined) {
      this.#response = response;
      this.#resolve?.(response);
      return;
    }
    // A copy, so that what is stored is what is sent: a procedure may still change its `ctx.response`.
    const stored = OutgoingResponse.of(response);
    const storing = reservation.complete(stored, context);
    if (!context.outcome.isLate) void storing.then(() => this.#resolve?.(stored));
  }
}
