import { TRPCError } from '@trpc/server';
import { isThenable } from '../http/maybePromise.ts';
import { isWritableHeader } from '../http/headers.ts';
import type { HttpRequest } from '../http/request.ts';
import { discardStream, headersOf, isBodyStream, type Header } from '../http/response.ts';
import type { OutgoingResponse } from '../http/outgoingResponse.ts';
import type { Policy } from './policy.ts';
import type { RequestScope } from './requestScope.ts';

/** A response that `onSend` may change before it is written. */
export class HookedResponse {
  readonly headers: ResponseHeaders;
  readonly #draft: OutgoingResponse;

  constructor(draft: OutgoingResponse) {
    this.#draft = draft;
    this.headers = new ResponseHeaders(draft);
  }

  get status(): number {
    return this.#draft.status;
  }

  /**
   * Sets the status. 204, 205 and 304 remove the body.
   * @throws {RangeError} if it is not an integer from 200 to 599
   */
  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(`onSend set the status ${status}; it must be an integer from 200 to 599.`);
    }
    this.#draft.status = status;
    if (status === 204 || status === 205 || status === 304) removeBody(this.#draft);
  }
}

/** The headers of a response. Names are case-insensitive. */
class ResponseHeaders implements Iterable<Header> {
  readonly #draft: OutgoingResponse;

  constructor(draft: OutgoingResponse) {
    this.#draft = draft;
  }

  /** Returns the value of the first header with this name. */
  get(name: string): string | undefined {
    return this.#draft.get(name);
  }

  /**
   * Sets a header, replacing all headers with this name.
   * @throws {TypeError} for an invalid name or value, and for headers that frame the message, such as `Content-Length`
   */
  set(name: string, value: string): void {
    requireWritable(name, value);
    this.delete(name);
    this.#draft.headers.push([name, value]);
  }

  /**
   * Adds a header without replacing others with the same name, as `Set-Cookie` needs.
   * @throws {TypeError} as `set` does
   */
  append(name: string, value: string): void {
    requireWritable(name, value);
    this.#draft.headers.push([name, value]);
  }

  /** Removes all headers with this name. */
  delete(name: string): void {
    const current = headersOf(this.#draft);
    const lower = name.toLowerCase();
    const kept = current.filter(([other]) => other.toLowerCase() !== lower);
    if (kept.length === current.length) return;
    this.#draft.sharedHeaders = [];
    this.#draft.headers = kept;
  }

  [Symbol.iterator](): Iterator<Header> {
    return headersOf(this.#draft)[Symbol.iterator]();
  }
}

function requireWritable(name: string, value: string): void {
  if (isWritableHeader([name, value])) return;
  throw new TypeError(
    `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Content-Length, Connection and Transfer-Encoding are set by the server.`,
  );
}

/** Removes the body of a response. A stream is cancelled. */
function removeBody(draft: OutgoingResponse): void {
  if (isBodyStream(draft.body)) void discardStream(draft.body);
  draft.body = undefined;
}

type OnSend = (request: HttpRequest, response: HookedResponse) => void;

/**
 * Creates the policy that calls `onSend`; it must be the last one. If `onSend` throws, the response becomes a 500, and
 * the `others` complete that.
 */
export function sendHook<Identity>(
  onSend: OnSend,
  errorResponse: (error: TRPCError, scope: RequestScope<Identity>) => OutgoingResponse,
  others: readonly Policy<Identity>[],
): Policy<Identity> {
  return {
    complete(scope, response) {
      try {
        callOnSend(onSend, scope.request, response);
      } catch (cause) {
        const replacement = errorResponse(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }), scope);
        scope.error = cause;
        removeBody(response);
        const { body, headers, sharedHeaders, status } = replacement;
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

/**
 * Calls `onSend`, and rethrows its errors.
 * @throws {TypeError} if it returns a promise
 */
function callOnSend(onSend: OnSend, request: HttpRequest, draft: OutgoingResponse): void {
  const returned: unknown = onSend(request, new HookedResponse(draft));
  if (!isThenable(returned)) return;
  void Promise.allSettled([returned]);
  throw new TypeError('onSend returned a promise; it must be synchronous.');
}
