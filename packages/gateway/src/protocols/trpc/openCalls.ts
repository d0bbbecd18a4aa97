import type { CallContext } from '../../calls/requestContext.ts';
import type { CallTelemetry } from '../../calls/telemetry.ts';
import type { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import { maxCallsPerSocket, tooManyCalls, tooManySubscriptionBytes } from './socketLimits.ts';

/** The properties of a call that an error message has; `noCall` for an error outside of a call. */
export interface CallInfo {
  readonly id: string | number | null;
  readonly jsonrpc?: '2.0' | undefined;
  readonly path?: string;
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly input?: unknown;
  /** The size of the results so far of the message that the call came with, if that is a batch; not of events. */
  readonly batch?: { bytes: number } | undefined;
}

export const noCall: CallInfo = { id: null, type: 'unknown' };

export interface OpenCall extends CallInfo, CallContext {
  readonly procedure: Procedure | undefined;
  /** The start, by `performance.now()`. */
  readonly startedAt: number;
  /** The index in `Socket.running`; `undefined` if it is not in there. */
  runningIndex: number | undefined;
  readonly callTelemetry: CallTelemetry | undefined;
  whenEnded(): Promise<void>;
}

/** A subscription from the message that starts it until its iterator is closed. */
export interface OpenSubscription extends OpenCall {
  readonly subscription: { inputBytes: number; endStart(): void } | undefined;
}

/** The subscriptions of a WebSocket by id, from the messages that start them until their iterators are closed. */
export class OpenSubscriptions {
  readonly #byId = new Map<string | number, OpenSubscription>();
  readonly #maxBytes: number;
  /** Bytes of the messages that started them: they keep their inputs. */
  #bytes = 0;
  /** One object, since a message may have 20,000 subscriptions. */
  #bytesError: LimitError | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(id: string | number): OpenSubscription | undefined {
    return this.#byId.get(id);
  }

  all(): readonly OpenSubscription[] {
    return [...this.#byId.values()];
  }

  /** Returns the error of a subscription for which there is no room. */
  fullError(bytes: number): LimitError | undefined {
    if (this.#byId.size >= maxCallsPerSocket) return tooManyCalls;
    if (this.#bytes + bytes <= this.#maxBytes) return undefined;
    return (this.#bytesError ??= tooManySubscriptionBytes(this.#maxBytes));
  }

  add(id: string | number, call: OpenSubscription, bytes: number): void {
    this.#byId.set(id, call);
    this.#bytes += bytes;
    if (call.subscription) call.subscription.inputBytes = bytes;
  }

  /** Frees the id of a subscription. A rejected one may have the id of an open one, which stays. */
  remove(id: string | number | null, subscription: { readonly inputBytes: number }): void {
    if (id === null || this.#byId.get(id)?.subscription !== subscription) return;
    this.#byId.delete(id);
    this.#bytes -= subscription.inputBytes;
  }
}
