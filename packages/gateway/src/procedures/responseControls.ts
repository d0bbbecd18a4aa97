import { isWritableHeader } from '../http/headers.ts';
import type { Header } from '../http/response.ts';

/**
 * Sets the status and the headers of a response. `createContext` receives one per request; the calls of a tRPC batch
 * share it, since they share the response. `trpc.responseMeta` takes precedence.
 */
export class ResponseControls {
  /**
   * The status of a successful response. Over REST: one of those in the metadata's `successStatus` or `responses`; if
   * unset, the default among them. Over tRPC: a 2xx with a body, for a single call; otherwise, and in a batch, it is
   * ignored.
   */
  status: number | undefined = undefined;
  /** The cursor of the next page, over REST; unset on the last page. Needs `pagination` in the metadata. */
  nextCursor: string | number | bigint | undefined = undefined;
  #headers: Header[] = [];

  /** The headers that were set or appended, with lower-case names. */
  get headers(): readonly Header[] {
    return this.#headers;
  }

  /**
   * Sets a response header and removes earlier values of it. For tRPC's JSON lines and server-sent events, set headers
   * before the response starts. tRPC ignores `content-type`.
   * @throws {TypeError} for a name that is not an HTTP token, a value that is not a string or contains a line break or
   *   NUL, and for `Content-Length`, `Connection` and `Transfer-Encoding`, which the server sets
   */
  header(name: string, value: string): void {
    if (this.#headers.length > 0) {
      this.#headers = this.#headers.filter(([other]) => other !== name.toLowerCase());
    }
    this.append(name, value);
  }

  /**
   * Adds a response header and keeps earlier values of it: for `Set-Cookie`, `Link`.
   * @throws {TypeError} in the same cases as `header`
   */
  append(name: string, value: string): void {
    if (!isWritableHeader([name, value])) {
      throw new TypeError(
        `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Content-Length, Connection and Transfer-Encoding are set by the server.`,
      );
    }
    this.#headers.push([name.toLowerCase(), value]);
  }

  /**
   * Sets `Idempotent-Replayed: true`: an earlier request with the same `Idempotency-Key` has had the effect of this
   * one.
   */
  replayed(): void {
    this.header('idempotent-replayed', 'true');
  }

  /**
   * Redirects the client to a location.
   * @param status one of the metadata's `successStatus`. Default: the first of them.
   */
  redirect(location: string, status?: number): void {
    this.header('location', location);
    this.status = status;
  }
}
