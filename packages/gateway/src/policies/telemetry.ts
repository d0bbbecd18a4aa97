import type { TRPCError } from '@trpc/server';
import type { HttpRequest } from '../http/request.ts';
import type { RequestRecord, TraceIds } from './requestRecord.ts';

/** Observes requests and the calls in them, for traces and metrics: `openTelemetry()` of `@petstore/runtime/opentelemetry`. */
export interface Telemetry {
  /** Called with each request, and with each that opens a WebSocket, before anything else happens to it. */
  begin(observed: ObservedRequest): RequestTelemetry;
}

export interface ObservedRequest {
  readonly request: HttpRequest;
  readonly protocol: RequestRecord['protocol'];
  /** What the path matches, such as `/v1/pets/{petId}`; `undefined` for an unknown path. */
  readonly route: string | undefined;
  /** Of the URL that clients use: that of `publicUrl`, else that of the connection. */
  readonly scheme: 'http' | 'https';
  /** The address that limits count by: behind `trustProxy`, of IPv6 the /64 network; `''` where it is not known. */
  readonly clientAddress: string;
}

/** One request. Where a method throws, the request is answered all the same. */
export interface RequestTelemetry {
  /** The ids of its span, for `RequestRecord.trace`. */
  readonly trace: TraceIds | undefined;
  /** Runs the request in its context, and returns what `run` returns. */
  run<Result>(run: () => Result): Result;
  /** Called with each call that runs; of a WebSocket, also after `end`. `undefined`: the call is not observed. */
  call(path: string): CallTelemetry | undefined;
  /** Called once the response is complete, of a stream once it has ended. */
  end(record: RequestRecord): void;
}

export interface CallTelemetry {
  /** The ids of its span, for `RequestRecord.trace` of a call on a WebSocket. */
  readonly trace: TraceIds | undefined;
  /** Runs the call in its context, and returns what `run` returns. */
  run<Result>(run: () => Result): Result;
  end(error: TRPCError | undefined): void;
}

/** Runs code of a telemetry; what it throws is dropped. */
export function unlessItThrows<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
