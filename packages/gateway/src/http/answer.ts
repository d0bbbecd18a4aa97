import type { Limit } from './limit.ts';
import { headersOf, type Header, type HttpResponse } from './response.ts';

/** An unexpected error (5xx), and the procedure whose call it ended. */
export interface FailedCall {
  readonly error: unknown;
  /** `undefined` where the error is of no one call. */
  readonly path: string | undefined;
}

/** A response on its way out, with what the log wants to know of how it was made. The host reads the response alone. */
export class Answer implements HttpResponse {
  status: number;
  headers: Header[];
  sharedHeaders: readonly Header[];
  body: HttpResponse['body'];
  /** The procedure that was called; of a batch, joined by commas. */
  operation: string | undefined = undefined;
  /** Those that were called and exist, one for each call, where that is not `operation` alone. */
  procedures: readonly string[] | undefined = undefined;
  /** How many calls were asked for. */
  calls = 1;
  /** What failed unexpectedly; of several errors the last. */
  error: unknown = undefined;
  /** Of tRPC, every call that failed unexpectedly. */
  failedCalls: readonly FailedCall[] = noFailedCalls;
  /** The limit that was met. */
  limit: Limit | undefined = undefined;

  constructor(
    status: number,
    headers: Header[],
    body?: HttpResponse['body'],
    sharedHeaders: readonly Header[] = none,
  ) {
    this.status = status;
    this.headers = headers;
    this.sharedHeaders = sharedHeaders;
    this.body = body;
  }

  /** The value of the first header of this name, in lower case. */
  header(name: string): string | undefined {
    return headersOf(this).find(([other]) => other.toLowerCase() === name)?.[1];
  }

  /** Another's response: it stays as it is. */
  static of({ status, headers, body, sharedHeaders }: HttpResponse): Answer {
    return new Answer(status, [...headers], body, sharedHeaders);
  }
}

const none: readonly Header[] = [];
const noFailedCalls: readonly FailedCall[] = [];
