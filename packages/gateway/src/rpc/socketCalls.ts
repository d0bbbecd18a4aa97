import {
  getTRPCErrorFromUnknown,
  type AnyTRPCProcedure,
  type AnyTRPCRouter,
  type TRPCError,
} from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { ProcedureOptions } from '../call/calls.ts';
import { isAsyncIterable } from '../isAsyncIterable.ts';
import { pacedIterable } from '../pacedIterable.ts';
import { calledThrough } from './calledThrough.ts';

export interface SocketCallsOptions {
  /** Called before a call begins; what it throws is the call's error. */
  readonly admit: () => void;
  readonly run: (procedure: AnyTRPCProcedure, options: ProcedureOptions) => Promise<unknown>;
  /** What a subscription waits for before it gives its next value; `undefined` where there is nothing to wait for. */
  readonly ready: () => Promise<void> | undefined;
  /** Called when a call, or a subscription, has ended. */
  readonly onEnd: (ended: EndedCall) => void;
}

export interface EndedCall {
  readonly path: string;
  readonly isStream: boolean;
  readonly durationMs: number;
  /** `undefined` where it did not fail. */
  readonly error: TRPCError | undefined;
}

/** The calls that one socket runs. */
export class SocketCalls {
  inFlight = 0;
  readonly #options: SocketCallsOptions;
  readonly #running = new Set<AbortController>();

  constructor(options: SocketCallsOptions) {
    this.#options = options;
  }

  /** How many of those in flight end by themselves: no subscriptions. */
  get unary(): number {
    return this.#running.size;
  }

  /** A router whose calls are these. */
  view<Router extends AnyTRPCRouter>(router: Router): Router {
    return calledThrough(router, (procedure, options) => this.#call(procedure, options));
  }

  /** The client went away. tRPC's handler tells subscriptions so, and no other calls (@trpc/server 11.25). */
  abort(): void {
    for (const call of this.#running) call.abort(new DOMException('The client went away.', 'AbortError'));
  }

  async #call(procedure: AnyTRPCProcedure, options: ProcedureOptions): Promise<unknown> {
    const { admit, onEnd, ready, run } = this.#options;
    const isSubscription = procedure._def.type === 'subscription';
    const start = performance.now();
    try {
      admit();
    } catch (cause) {
      const error = getTRPCErrorFromUnknown(cause);
      onEnd({ path: options.path, isStream: isSubscription, durationMs: 0, error });
      throw cause;
    }
    const abort = new AbortController();
    this.inFlight += 1;
    if (!isSubscription) this.#running.add(abort);
    const end = (cause?: unknown) => {
      this.inFlight -= 1;
      this.#running.delete(abort);
      onEnd({
        path: options.path,
        isStream: isSubscription,
        durationMs: performance.now() - start,
        error: cause === undefined ? undefined : getTRPCErrorFromUnknown(cause),
      });
    };
    let output: unknown;
    try {
      output = await run(procedure, isSubscription ? options : { ...options, signal: abort.signal });
    } catch (cause) {
      end(cause);
      throw cause;
    }
    // Nobody can make an observable wait: it is sent as it comes, and what a client does not read closes its socket.
    if (isSubscription && isObservable(output))
      return pacedIterable(observableToAsyncIterable(output, options.signal), () => undefined, end);
    if (isSubscription && isAsyncIterable(output)) return pacedIterable(output, ready, end);
    end();
    return output;
  }
}
