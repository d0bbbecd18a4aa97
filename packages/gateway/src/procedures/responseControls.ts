import { isWritableHeader } from '../http/headers.ts';
import type { Header } from '../http/response.ts';

/**
 * What a procedure may say about its answer beyond its output. There is one per request, which `createContext` is given:
 * the calls of a tRPC batch share one answer, and so one `ResponseControls`. `rpc.responseMeta` wins over it.
 */
export class ResponseControls {
  /**
   * The status of a successful answer. Over REST: one of those that the metadata's `successStatus` lists; unset, the first
   * of them. Over tRPC: of a single call, a 2xx with a body; in a batch, and for others, the status is tRPC's own.
   */
  status: number | undefined = undefined;
  /** The cursor of the next page, over REST; unset on the last page. Needs `pagination` in the metadata. */
  nextCursor: string | number | bigint | undefined = undefined;
  #headers: Header[] = [];

  /** What was set and appended, names in lower case. */
  get headers(): readonly Header[] {
    return this.#headers;
  }

  /**
   * Sets a response header: what was said under this name before is forgotten. JSON lines and server-sent events of tRPC
   * have those that are set before their head goes out. `content-type` is for REST alone.
   * @throws {TypeError} for a name that is no token, a value that is no string or has a line break or NUL in it, and for
   *   what frames the message (`Content-Length`, `Connection`, `Transfer-Encoding`)
   */
  header(name: string, value: string): void {
    if (this.#headers.length > 0) {
      this.#headers = this.#headers.filter(([other]) => other !== name.toLowerCase());
    }
    this.append(name, value);
  }

  /**
   * Adds a response header beside others of its name: `Set-Cookie`, `Link`.
   * @throws {TypeError} as `header` does
   */
  append(name: string, value: string): void {
    if (!isWritableHeader([name, value])) {
      throw new TypeError(`The response header ${JSON.stringify(name)} cannot be written as it is.`);
    }
    this.#headers.push([name.toLowerCase(), value]);
  }

  /** Says that an earlier request with the same `Idempotency-Key` did what this one asks for. */
  replayed(): void {
    this.header('idempotent-replayed', 'true');
  }

  /** Answers with a redirect. `status` must be listed in the metadata's `successStatus`. */
  redirect(location: string, status?: number): void {
    this.header('location', location);
    this.status = status;
  }
}
