/**
 * What a store can fail with; every implementation folds its own failures into these.
 *
 * - `unavailable`: it cannot serve now; nothing was stored. Trying again later may help.
 * - `outcome-unknown`: a write was sent and nobody knows whether it was stored.
 * - `full`: the disk or the map is full; nothing was stored.
 * - `damaged`: what is stored cannot be read. Trying again does not help.
 * - `forbidden`: the process has no right to read or write the store's files, or the database refuses its user.
 * - `conflict`: a record with this key or unique value already exists; nothing was stored.
 * - `invalid`: the schema of the collection rejects the record; nothing was stored.
 * - `version-mismatch`: the record was changed since the caller read it; nothing was stored.
 * - `key-reused`: an idempotency key was used with another input; nothing was stored.
 * - `too-many-reservations`: the caller has used as many idempotency keys within a day as the store keeps for one;
 *   nothing was stored. `retryAfterSeconds` says when there is room again.
 * - `migration-needed`: an earlier version made the store, and this caller may not bring it up to date.
 * - `closed`: the store was closed.
 * - `fatal`: this process can no longer use the store, and every later call fails with the same error. Nothing was
 *   stored. Only a new process can serve again.
 */
export type StoreErrorCode =
  | 'unavailable'
  | 'outcome-unknown'
  | 'full'
  | 'damaged'
  | 'forbidden'
  | 'conflict'
  | 'invalid'
  | 'version-mismatch'
  | 'key-reused'
  | 'too-many-reservations'
  | 'migration-needed'
  | 'closed'
  | 'fatal';

export interface StoreErrorOptions extends ErrorOptions {
  readonly retryAfterSeconds?: number;
}

/** The one error of every store. Its message is a sentence for operators: it may name paths and hosts, so no client sees it. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** After how many seconds trying again makes sense, where that is known. The gateway sends it as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: StoreErrorCode, message: string, options?: StoreErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}
