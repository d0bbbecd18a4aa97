import {
  getTRPCErrorFromUnknown,
  type AnyTRPCProcedure,
  type AnyTRPCRouter,
  type TRPCError,
} from '@trpc/server';
import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { ProcedureOptions } from '../../policies/calls.ts';
import { isAsyncIterable } from '../../http/isAsyncIterable.ts';
import { pacedIterable } from '../../http/pacedIterable.ts';
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

/** What is told that the client went away. */
interface Abortable {
  abort(reason: unknown): void;
}

/** The calls that one socket runs. */
export class SocketCalls {
  readonly #options: SocketCallsOptions;
  readonly #running = new Set<Abortable>();
  #subscriptions = 0;

  constructor(options: SocketCallsOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#running.size + this.#subscriptions;
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

  /**
   * Lets a call begin.
   * @throws what it is refused with, which is told of
   */
  admit(path: string, isStream: boolean): void {
    try {
      this.#options.admit();
    } catch (cause) {
      this.#options.onEnd({ path, isStream, durationMs: 0, error: getTRPCErrorFromUnknown(cause) });
      throw cause;
    }
  }

  /** One that ends by itself is in flight. */
  add(call: Abortable): void {
    this.#running.add(call);
  }

  delete(call: Abortable): void {
    this.#running.delete(call);
  }

  /**
   * Tells that a call has ended, once it is in flight no more.
   * @param start by `performance.now()`
   */
  tell(path: string, isStream: boolean, start: number, error?: TRPCError): void {
    this.#options.onEnd({ path, isStream, durationMs: performance.now() - start, error });
  }

  async #call(procedure: AnyTRPCProcedure, options: ProcedureOptions): Promise<unknown> {
    const { ready, run } = this.#options;
    const isSubscription = procedure._def.type === 'subscription';
    const start = performance.now();
    this.admit(options.path, isSubscription);
    const abort = new AbortController();
    if (isSubscription) this.#subscriptions += 1;
    else this.add(abort);
    const end = (cause?: unknown) => {
      if (isSubscription) this.#subscriptions -= 1;
      else this.delete(abort);
      const error = cause === undefined ? undefined : getTRPCErrorFromUnknown(cause);
      this.tell(options.path, isSubscription, start, error);
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
