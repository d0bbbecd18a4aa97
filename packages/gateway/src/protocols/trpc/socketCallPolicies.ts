import type { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { discardStream, isAsyncIterable, OutgoingResponse } from '../../http/response.ts';
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
import { codeOf, errorStatusOf } from '../../procedures/clientError.ts';
import { Failure } from '../../procedures/execute.ts';
import type { OpenCall } from './openCalls.ts';
import { isStopped, type Socket } from './socket.ts';
import type { CallEvents } from './socketSubscription.ts';

/** What a call sends: its error, the events of a subscription, or the frame of its output. */
export type CallResult = Failure | CallEvents | string;

/** A call as policies see it. Its outcome is set before they complete it, and when it has ended. */
type SocketPolicyContext = Omit<PolicyContext, 'isStream' | 'outcomes'> & {
  isStream: boolean;
  outcomes: readonly CallOutcome[];
};

export class SocketCallPolicies {
  readonly #policies: PolicySteps<Policy>;
  readonly #call: OpenCall;
  readonly #socket: Socket;
  readonly #context: SocketPolicyContext;
  /** Whether events are sent, and the policies see the outcome when they have ended. */
  #isStreaming = false;

  constructor(policies: PolicySteps<Policy>, call: OpenCall, socket: Socket) {
    this.#policies = policies;
    this.#call = call;
    this.#socket = socket;
    const { data, identity, protocol, request, requestId, via } = socket.context;
    const { procedure } = call;
    const about = { identity, protocol, request, requestId, via, procedures: procedure ? [procedure] : [] };
    const outcome = { outcomes: [], isReplay: false, isStream: false };
    // A copy of `data`, since the calls of a socket run concurrently.
    this.#context = { ...about, ...outcome, kind: 'call', data: { ...data } };
  }

  admit(): MaybePromise<TRPCError | undefined> {
    return admit(this.#policies.admitting, this.#context);
  }

  /** Completes a result and reports its outcome. @returns it, or the error of a policy; it never rejects */
  async complete(result: CallResult): Promise<CallResult> {
    const { calls } = this.#socket.settings;
    const { completing, settling } = this.#policies;
    const context = this.#context;
    let completed = result;
    context.isStream = isEvents(result);
    try {
      const status = this.#setOutcome(result);
      const pending = complete(completing, context, new OutgoingResponse(status));
      if (pending instanceof Promise) await calls.waitForPolicy(pending, this.#call);
    } catch (cause) {
      if (isAsyncIterable(result)) void discardStream(result);
      completed = new Failure(policyError(cause));
      this.#setOutcome(completed);
    }
    this.#isStreaming = isEvents(completed);
    if (this.#isStreaming) return completed;
    try {
      const pending = settle(settling, context);
      if (pending) await calls.waitForPolicy(pending, this.#call);
      return completed;
    } catch (cause) {
      return new Failure(policyError(cause));
    }
  }

  /** Reports a subscription's end. @returns a policy's error; `undefined` if none waits or it was reported */
  settleStream(failure: TRPCError | undefined): Promise<unknown> | undefined {
    if (!this.#isStreaming) return undefined;
    if (failure) this.#setOutcome(new Failure(failure));
    else if (!this.#call.signal.aborted) this.#setOutcome('OK');
    const pending = settle(this.#policies.settling, this.#context);
    return (
      pending &&
      this.#socket.settings.calls.waitForPolicy(pending, this.#call).catch((cause: unknown) => cause)
    );
  }

  /** Sets the outcome that policies see. Returns its status. */
  #setOutcome(result: CallResult): number {
    const { procedure } = this.#call;
    let status = 200;
    let code = typeof result === 'string' ? 'OK' : undefined;
    if (result instanceof Failure) {
      const hasStopped = isStopped(result.error, this.#call);
      status = hasStopped ? 499 : errorStatusOf(result.error);
      code = hasStopped ? 'CLIENT_CLOSED_REQUEST' : codeOf(result.error);
    }
    this.#context.outcomes = [{ procedure, code }];
    return status;
  }
}

const isEvents = (result: CallResult): boolean => typeof result !== 'string' && !(result instanceof Failure);
