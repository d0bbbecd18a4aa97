/**
 * Codes of `StoreError`. Every implementation maps its own errors to these codes.
 *
 * - `unavailable`: the store cannot serve calls at the moment; nothing was stored. A retry may succeed.
 * - `outcome-unknown`: a write was sent, and it is unknown whether it was stored.
 * - `full`: the disk or the LMDB map is full; nothing was stored.
 * - `damaged`: stored data cannot be read. A retry does not help.
 * - `incompatible`: a stored record is intact, but the schema of this version rejects it. A retry does not help.
 * - `forbidden`: the process may not read or write the store's files, or the database rejects its user.
 * - `conflict`: a record with this key or unique value already exists; nothing was stored.
 * - `invalid`: the schema of the collection rejects the record; nothing was stored.
 * - `version-mismatch`: the record was changed since the caller read it; nothing was stored.
 * - `key-reused`: the idempotency key was used with another input; nothing was stored.
 * - `too-many-reservations`: the caller has reached the limit of idempotency keys per day; nothing was stored.
 *   The oldest of them expires after `retryAfterSeconds`.
 * - `migration-needed`: an earlier version created the store, without a collection or an index of this one, and it was opened
 *   with `migrate: false`.
 * - `closed`: the store was closed.
 * - `fatal`: this process can no longer use the store, and every later call fails with the same error. Nothing was
 *   stored. Restart the process.
 */
export type StoreErrorCode =
  | 'unavailable'
  | 'outcome-unknown'
  | 'full'
  | 'damaged'
  | 'incompatible'
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

/** The error class of all stores. Messages are for operators: they may contain paths and host names, so clients never get them. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** Seconds after which a retry may succeed, if known. The gateway sends it as `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: StoreErrorCode, message: string, options?: StoreErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}
