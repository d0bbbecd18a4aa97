import type { Limit } from './limit.ts';
import type { HttpResponse, Header } from './response.ts';

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
    for (let at = 0; at < this.headers.length; at += 1) {
      const header = this.headers[at] as Header;
      // By length first: that decides for nearly all.
      if (header[0].length === name.length && header[0].toLowerCase() === name) return header[1];
    }
    return this.sharedHeaders.length === 0 ? undefined : sharedHeader(this.sharedHeaders, name);
  }

  /** Another's response: it stays as it is. */
  static of({ status, headers, body, sharedHeaders }: HttpResponse): Answer {
    return new Answer(status, [...headers], body, sharedHeaders);
  }
}

const none: readonly Header[] = [];
const noFailedCalls: readonly FailedCall[] = [];

/** Shared headers by name, looked up once for all responses that share them. */
const byName = new WeakMap<readonly Header[], ReadonlyMap<string, string>>();

function sharedHeader(headers: readonly Header[], name: string): string | undefined {
  let values = byName.get(headers);
  if (values === undefined) {
    values = new Map(headers.map(([header, value]) => [header.toLowerCase(), value]));
    byName.set(headers, values);
  }
  return values.get(name);
}
