import { TRPCError } from '@trpc/server';
import { isThenable } from '../http/maybePromise.ts';
import { isWritableHeader } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import { discardStream, headersOf, isBodyStream, type Header } from '../http/response.ts';
import type { ResponseDraft } from '../http/responseDraft.ts';
import type { Policy } from './policy.ts';
import type { RequestScope } from './requestScope.ts';

/** A response that `onSend` may change before it is written. */
export class HookedResponse {
  readonly headers: ResponseHeaders;
  readonly #draft: ResponseDraft;

  constructor(draft: ResponseDraft) {
    this.#draft = draft;
    this.headers = new ResponseHeaders(draft);
  }

  get status(): number {
    return this.#draft.status;
  }

  /** @throws {RangeError} for what is not an integer from 200 to 599. 204, 205 and 304 leave out the body. */
  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`The status ${status} is not an integer from 200 to 599.`);
    }
    this.#draft.status = status;
    if (status === 204 || status === 205 || status === 304) withoutBody(this.#draft);
  }
}

/** The headers of a response, whose names have no case. */
class ResponseHeaders implements Iterable<Header> {
  readonly #draft: ResponseDraft;

  constructor(draft: ResponseDraft) {
    this.#draft = draft;
  }

  /** The value of the first header of this name. */
  get(name: string): string | undefined {
    return this.#draft.header(name.toLowerCase());
  }

  /**
   * Replaces all headers of this name.
   * @throws {TypeError} for an invalid name or value, and for what frames the message (`Content-Length`)
   */
  set(name: string, value: string): void {
    requireWritable(name, value);
    this.delete(name);
    this.#draft.headers.push([name, value]);
  }

  /** Adds a header beside others of its name, such as `Set-Cookie`. @throws {TypeError} as `set` does */
  append(name: string, value: string): void {
    requireWritable(name, value);
    this.#draft.headers.push([name, value]);
  }

  delete(name: string): void {
    const all = headersOf(this.#draft);
    const lower = name.toLowerCase();
    const kept = all.filter(([other]) => other.toLowerCase() !== lower);
    if (kept.length === all.length) return;
    this.#draft.sharedHeaders = [];
    this.#draft.headers = kept;
  }

  [Symbol.iterator](): Iterator<Header> {
    return headersOf(this.#draft)[Symbol.iterator]();
  }
}

function requireWritable(name: string, value: string): void {
  if (isWritableHeader([name, value])) return;
  throw new TypeError(`The response header ${JSON.stringify(name)} cannot be written as it is.`);
}

/** Removes the body of a response; one that is a stream is ended. */
function withoutBody(draft: ResponseDraft): void {
  if (isBodyStream(draft.body)) void discardStream(draft.body);
  draft.body = undefined;
}

type OnSend = (request: HttpRequest, response: HookedResponse) => void;

/**
 * The policy that calls `onSend`, the last of all. Where it throws, the response is 500 in its place, which the `others`
 * complete.
 */
export function sendHook<Identity>(
  onSend: OnSend,
  errorResponse: (error: TRPCError, scope: RequestScope<Identity>) => ResponseDraft,
  others: readonly Policy<Identity>[],
): Policy<Identity> {
  return {
    complete(scope, response) {
      try {
        hookResponse(onSend, scope.request, response);
      } catch (cause) {
        const failed = errorResponse(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }), scope);
        scope.error = cause;
        withoutBody(response);
        const { body, headers, sharedHeaders, status } = failed;
        Object.assign(response, {
          body,
          headers: [...headers, ...(scope.headers ?? [])],
          sharedHeaders,
          status,
        });
        for (const policy of others) policy.complete?.(scope, response);
      }
    },
  };
}

/** Calls `onSend`. @throws what it throws, and where it returns a promise */
function hookResponse(onSend: OnSend, request: HttpRequest, draft: ResponseDraft): void {
  const returned: unknown = onSend(request, new HookedResponse(draft));
  if (!isThenable(returned)) return;
  void Promise.allSettled([returned]);
  throw new TypeError('onSend returned a promise: it must be synchronous.');
}
