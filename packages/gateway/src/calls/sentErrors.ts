import { TRPCError } from '@trpc/server';
import { formatValue } from '../http/formatValue.ts';
import { isThenable } from '../http/maybePromise.ts';
import { addMappedError, errorStatusOf } from '../procedures/clientError.ts';
import { DeclaredError } from '../procedures/declareErrors.ts';
import { Failure, failureOf } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { RequestContext } from './requestContext.ts';

/** Maps an error of the application: `mapError` of the gateway's options. */
export type MapError = (error: TRPCError) => TRPCError | undefined;

type ErrorsOfRequest = Pick<RequestContext, 'error' | 'failedCalls' | 'mappedError'>;

/**
 * The errors that clients receive: those of the application as `mapError` maps them, all others as they are. The original
 * errors remain the outcomes of calls, so that hooks, records and telemetry see them.
 */
export class SentErrors {
  readonly #mapError: MapError | undefined;
  /** The mapped errors by their originals. One that is thrown again is mapped again. */
  readonly #sent = new WeakMap<TRPCError, TRPCError>();
  /** The errors that `mapError` threw, by the errors that it was called with. */
  readonly #thrown = new WeakMap<TRPCError, TRPCError>();

  constructor(mapError?: MapError) {
    this.#mapError = mapError;
  }

  /** Maps the error of a call, and returns its outcome. */
  readonly mapOutcome = (outcome: unknown): unknown => {
    if (outcome instanceof Failure) this.toError(outcome.error);
    return outcome;
  };

  /** Returns a function that maps what `run` throws or rejects with; `run` itself without `mapError`. */
  mapThrown<Options>(run: (options: Options) => unknown): (options: Options) => unknown {
    if (this.#mapError === undefined) return run;
    const rethrow = (cause: unknown) => {
      throw this.toError(cause);
    };
    return (options) => {
      try {
        const result = run(options);
        return isThenable(result) ? Promise.resolve(result).catch(rethrow) : result;
      } catch (cause) {
        return rethrow(cause);
      }
    };
  }

  /** Converts anything that the application has thrown to a `TRPCError`, and maps it. It returns the original error. */
  readonly toError = (cause: unknown): TRPCError => {
    const { error } = failureOf(cause);
    if (this.#mapError && !(error instanceof LimitError)) this.#map(error, this.#mapError);
    return error;
  };

  /** Returns the error that clients receive instead of an error; itself if it is not mapped. */
  of(error: TRPCError): TRPCError {
    return this.#sent.get(error) ?? error;
  }

  /** Returns the HTTP status that clients receive for an error. */
  statusOf(error: TRPCError): number {
    return errorStatusOf(this.of(error));
  }

  /** Returns an error and the one that `mapError` threw for it, if any. */
  reported(error: TRPCError): readonly TRPCError[] {
    const thrown = this.#thrown.get(error);
    return thrown === undefined ? [error] : [error, thrown];
  }

  /**
   * Records an error for the record of its request, if it is or was unexpected (5xx).
   * @param status the status that clients receive
   */
  record(error: TRPCError, context: ErrorsOfRequest, path = '', status = this.statusOf(error)): void {
    for (const each of this.reported(error)) {
      if (each !== error || status >= 500) {
        const paths = [context.failedCalls.get(each), path].filter((name) => name).join(',');
        context.failedCalls = new Map(context.failedCalls).set(each, paths);
        context.error = each;
      } else if (this.#sent.has(error) && errorStatusOf(error) >= 500) context.mappedError = error;
    }
  }

  #map(error: TRPCError, mapError: MapError): void {
    this.#sent.delete(error);
    this.#thrown.delete(error);
    try {
      const mapped: unknown = mapError(error);
      if (isTrpcError(mapped)) {
        // The message of an error that it keeps may be that of a driver.
        if (mapped !== error || mapped instanceof DeclaredError) addMappedError(mapped);
        this.#sent.set(error, mapped);
      } else if (mapped !== undefined) {
        throw new TypeError(
          `mapError returned ${formatValue(mapped)}. Return a TRPCError, an error of declareErrors, or undefined.`,
        );
      }
    } catch (cause) {
      const message = 'mapError failed, so the client received the error that it was called with.';
      this.#thrown.set(error, new TRPCError({ code: 'INTERNAL_SERVER_ERROR', message, cause }));
    }
  }
}

/** Whether a value is a `TRPCError`, also one of another copy of `@trpc/server`, as for tRPC. */
const isTrpcError = (value: unknown): value is TRPCError =>
  value instanceof Error && value.name === 'TRPCError';
