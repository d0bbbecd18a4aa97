import { isWritableHeader } from './http.ts';

/**
 * What a procedure may say about its answer beyond its output. The wire makes one per request and hands it to
 * `createContext`; it reads it for REST and for single tRPC calls. In a batch it is ignored: its calls share one answer.
 */
export class Reply {
  /** One of the statuses that the metadata's `successStatus` lists; unset: the first of them. */
  status: number | undefined = undefined;
  /** The cursor of the next page; unset on the last page. Needs `pagination` in the metadata. */
  nextCursor: string | number | bigint | undefined = undefined;
  /** Response headers by name. */
  headers: Record<string, string> | undefined = undefined;

  /**
   * Adds a response header; a second value under one name replaces the first.
   * @throws {TypeError} for a name or value with a line break or NUL in it
   */
  header(name: string, value: string): void {
    if (!isWritableHeader([name, value])) {
      throw new TypeError(`The response header ${JSON.stringify(name)} has a line break or NUL in it.`);
    }
    this.headers ??= {};
    this.headers[name.toLowerCase()] = value;
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
