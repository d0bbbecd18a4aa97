import type { AnyTRPCProcedure } from '@trpc/server';
import { LimitError } from '../edge/limitError.ts';
import type { GatewayRequest } from '../http.ts';
import type { Limits } from '../limits.ts';
import type { Tracing } from './tracing.ts';

/** What a call is made with, as tRPC's handlers make it. */
export type ProcedureOptions = Parameters<AnyTRPCProcedure>[0] & {
  readonly path: string;
  readonly signal: AbortSignal;
};

export interface Call {
  /** The procedure's path. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  readonly request: GatewayRequest;
  readonly signal: AbortSignal;
  /** Whether its answer is a line of a stream: then past the deadline `signal` aborts, and what comes of it is the line. */
  readonly isStreamed: boolean;
}

/** One of those that run. */
class Running {
  readonly deadline: number;
  readonly abort = new AbortController();
  /** Ends the wait for it. */
  reject: (error: LimitError) => void = () => {};

  constructor(deadline: number) {
    this.deadline = deadline;
  }
}

/** The calls that run now, of every face: how many, for how long, and under which trace. */
export class Calls {
  readonly #limits: Limits;
  readonly #tracing: Tracing | undefined;
  /** In the order of their beginning, and so of their deadlines: one timer serves them all. */
  readonly #running = new Set<Running>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits, tracing: Tracing | undefined) {
    this.#limits = limits;
    this.#tracing = tracing;
  }

  get inFlight(): number {
    return this.#running.size;
  }

  /** Why so many more cannot run now. */
  refusal(count: number): LimitError | undefined {
    if (this.#running.size + count <= this.#limits.maxInFlight) return undefined;
    return new LimitError('in-flight', {
      code: 'SERVICE_UNAVAILABLE',
      message: `The server runs ${this.#limits.maxInFlight} calls at once, and no more. Try again later.`,
      retryAfterSeconds: 1,
    });
  }

  /**
   * Runs a call until it gives its output, or its begun stream.
   * @throws {LimitError} `in-flight`, `call-timeout`
   */
  run<T>(call: Call, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { path, request, type } = call;
    const tracing = this.#tracing;
    const traced =
      tracing === undefined ? start : (signal: AbortSignal) => tracing(path, request, () => start(signal));
    const refusal = this.refusal(1);
    if (refusal) return Promise.reject(refusal);
    return type === 'subscription' ? traced(call.signal) : this.#untilDeadline(call, traced);
  }

  /** Runs a procedure as tRPC's handlers call it. */
  procedure(
    procedure: AnyTRPCProcedure,
    options: ProcedureOptions,
    request: GatewayRequest,
    isStreamed: boolean,
  ): Promise<unknown> {
    const { path, signal } = options;
    return this.run({ path, type: procedure._def.type, request, signal, isStreamed }, (ownSignal) =>
      procedure({ ...options, signal: ownSignal }),
    );
  }

  #untilDeadline<T>({ signal, isStreamed }: Call, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { callTimeoutMs } = this.#limits;
    const running = new Running(performance.now() + callTimeoutMs);
    const { abort } = running;
    // Not AbortSignal.any: it takes 13 µs, this 0.2. The listener stays: the output may be a stream that goes on.
    if (signal.aborted) abort.abort(signal.reason);
    else signal.addEventListener('abort', () => abort.abort(signal.reason), { once: true });
    const pending = start(abort.signal);
    this.#running.add(running);
    if (this.#timer === undefined && callTimeoutMs !== Infinity) this.#wait(callTimeoutMs);
    if (isStreamed) {
      // As it is: a promise of ours would settle a turn later, and lines would come in another order than the adapter's.
      const end = () => this.#running.delete(running);
      pending.then(end, end);
      return pending;
    }
    return new Promise<T>((resolve, reject) => {
      running.reject = reject;
      pending.then(
        (output) => {
          this.#running.delete(running);
          resolve(output);
        },
        (cause: Error) => {
          this.#running.delete(running);
          reject(cause);
        },
      );
    });
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#sweep(), Math.min(ms, longestTimer)).unref();
  }

  #sweep(): void {
    this.#timer = undefined;
    // A timer may come a little early.
    const now = performance.now() + 1;
    for (const running of this.#running) {
      if (running.deadline > now) return this.#wait(running.deadline - now);
      this.#running.delete(running);
      const error = tooSlow(this.#limits.callTimeoutMs);
      running.reject(error);
      running.abort.abort(error);
    }
  }
}

/** A longer one would fire at once. */
const longestTimer = 2 ** 31 - 1;

const tooSlow = (ms: number) =>
  new LimitError('call-timeout', {
    code: 'GATEWAY_TIMEOUT',
    message: `The call took longer than ${ms} ms; whether it had an effect is unknown.`,
  });
