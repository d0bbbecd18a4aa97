import type { TRPCError } from '@trpc/server';
import { ignoreRejection, tryHook } from '../http/hooks.ts';
import { isThenable } from '../http/maybePromise.ts';
import type { HttpRequest } from '../http/request.ts';
import type { RequestRecord, TraceIds } from './requestRecord.ts';

/**
 * Observes requests and calls for traces and metrics, as `openTelemetry()` of `trpc-gateway-runtime/opentelemetry` does.
 * Errors that its functions throw, or reject with, are ignored; without `run`, a request or call runs outside of its context.
 */
export interface Telemetry {
  /** Called with each request, including requests that open a WebSocket, before anything else runs. */
  begin(observed: ObservedRequest): RequestTelemetry;
}

/** A request, as `Telemetry.begin` receives it. */
export interface ObservedRequest {
  readonly request: HttpRequest;
  readonly protocol: RequestRecord['protocol'];
  /** The matched route, such as `/v1/pets/{petId}`; `undefined` for an unknown path. */
  readonly route: string | undefined;
  /** The scheme of the URL that clients use: the scheme of `publicUrl` if it is set, otherwise of the connection. */
  readonly scheme: 'http' | 'https';
  /** The address that limits count by: the client's behind `trustProxy`, for IPv6 its /64 network. `''` if unknown. */
  readonly clientAddress: string;
}

/** Observes one request. */
export interface RequestTelemetry {
  /** The ids of its span, for `RequestRecord.trace`. */
  readonly trace: TraceIds | undefined;
  /** Runs the request in its context, and returns what `run` returns. */
  run<Result>(run: () => Result): Result;
  /** Called with each call that runs; on a WebSocket, also after `end`. Return `undefined` to not observe the call. */
  call(path: string): CallTelemetry | undefined;
  /** Called when the response is complete; for a stream, when it has ended. */
  end(record: RequestRecord): void;
}

export interface CallTelemetry {
  /** The ids of its span, for `RequestRecord.trace` of a call on a WebSocket. */
  readonly trace: TraceIds | undefined;
  /** Runs the call in its context, and returns what `run` returns. */
  run<Result>(run: () => Result): Result;
  end(error: TRPCError | undefined): void;
}

/** Runs a function once, in the context of `observer` unless that fails before. Returns or throws what it does. */
export function runObserved<Result>(observer: Pick<RequestTelemetry, 'run'>, run: () => Result): Result {
  let outcome: (() => Result) | undefined;
  const runOnce = (): Result => {
    outcome ??= outcomeOf(run);
    return outcome();
  };
  const returned = tryHook((each) => [each.run(runOnce)], observer);
  const result = runOnce();
  // An asynchronous function returns another promise.
  if (returned && returned[0] !== result && isThenable(returned[0])) ignoreRejection(returned[0]);
  return result;
}

/** Runs a function, and returns one that returns or throws what it did. */
function outcomeOf<Result>(run: () => Result): () => Result {
  try {
    const result = run();
    return () => result;
  } catch (cause) {
    return () => {
      throw cause;
    };
  }
}
