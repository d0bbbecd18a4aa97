// Hot path: one object per request.
import type { TRPCError } from '@trpc/server';
import { codeOf } from '../procedures/clientError.ts';
import type { Limit } from '../procedures/limitError.ts';

/** Unexpected errors (5xx), with the paths of the procedures that each has ended. */
export type FailedCalls = ReadonlyMap<unknown, readonly string[]>;

/**
 * What has happened to the calls of one request, for policies, logs and metrics. The protocol writes it while they run, and
 * what ends a request in its place: a policy that rejects it, a replayed response, a stream that fails.
 */
export class RequestOutcome {
  /** The number of calls in the request; 0 if it calls nothing. */
  calls = 1;
  /** The called procedure; in a batch, paths joined by commas. */
  operation: string | undefined = undefined;
  /** The existing procedures that were called, one per call, if that is not `operation` alone. */
  calledPaths: readonly string[] | undefined = undefined;
  /** The limit that rejected the request or one of its calls. */
  limit: Limit | undefined = undefined;
  /** The result of a tool, as JSON. */
  result: string | undefined = undefined;
  /** The last unexpected error (5xx). */
  error: unknown = undefined;
  /** All calls that failed unexpectedly, if they are several. */
  failedCalls: Map<unknown, string[]> | undefined = undefined;
  /** Whether the calls end with their response, a stream, for the policies of the service. */
  isStream = false;
  /** Whether calls that have not failed may still run: while a stream is open, and if its client has disconnected. */
  isPending = false;
  /** Whether its call has ended after its deadline: its outcome and its record are those of the deadline. */
  isLate = false;
  /** Whether elements of a tool's result were left out, or a short text has taken its place. */
  isResultCut = false;
  /** The code of the last error of its calls, which a stored response keeps. */
  errorCode: string | undefined = undefined;
  /** The codes of the calls that failed, by their index in the request; `undefined` if none did. */
  failedCodes: Map<number, string> | undefined = undefined;
  /** The code of the error that ended the whole request, and so each of its calls. */
  requestCode: string | undefined = undefined;

  /** Records the error of one call. Its first error counts; after a disconnect, an error is a consequence of that. */
  callFailed(error: TRPCError, index: number, isAborted: boolean): void {
    this.errorCode = codeOf(error);
    if (this.isLate || this.failedCodes?.has(index)) return;
    (this.failedCodes ??= new Map()).set(index, isAborted ? 'CLIENT_CLOSED_REQUEST' : this.errorCode);
  }

  endedWith(code: string): void {
    this.errorCode = code;
    if (!this.isLate) this.requestCode = code;
  }

  /** Records an unexpected error. @param path the called procedure; `undefined` for the request as a whole */
  failedUnexpectedly(error: unknown, path: string | undefined): void {
    this.error = error;
    const failed = (this.failedCalls ??= new Map());
    const paths = failed.get(error) ?? [];
    if (path) paths.push(path);
    failed.set(error, paths);
  }
}
