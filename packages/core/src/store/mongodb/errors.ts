import { BSON, MongoError, MongoErrorLabel, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { StoreError, type StoreErrorCode } from '../storeError.ts';

/** Describes the database in messages. */
export interface DatabaseLabel {
  /** Name of the database and its hosts, without credentials. */
  readonly name: string;
  /** Texts that messages must not contain: user name, password and other secrets of the URI. */
  readonly secrets: readonly string[];
}

/**
 * Outcome of the writes of an operation that fails:
 * - `not-stored`: no write was sent, or its rejection was already handled
 * - `unless-rejected`: a write was sent; it was not stored only if the server rejected it
 * - `unknown`: the driver retried a write, or other calls may store the record
 */
export type WriteOutcome = 'not-stored' | 'unless-rejected' | 'unknown';

/**
 * Codes with a message below. `fatal` does not occur, because the store recovers when the database does. Errors with the
 * other codes are created where they are detected.
 */
type Code = Exclude<
  StoreErrorCode,
  'fatal' | 'incompatible' | 'invalid' | 'migration-needed' | 'too-many-reservations' | 'version-mismatch'
>;

/**
 * Server error codes of commands that were rejected before they had any effect (error_codes.yml in MongoDB's source). A
 * rejected write was not stored. After all other errors of a sent write the outcome is unknown: a server that steps down or
 * shuts down (91, 189, 11600, 11602), a write concern that failed or timed out (64, 79, 100), a time limit (50, 262), an
 * internal error (1), a lost connection.
 */
const REJECTION_CODES: Readonly<Record<number, Code>> = {
  13: 'forbidden', // Unauthorized
  18: 'forbidden', // AuthenticationFailed
  8000: 'unavailable', // AtlasError: rejected by its proxy
  10058: 'unavailable', // LegacyNotPrimary
  10107: 'unavailable', // NotWritablePrimary
  11000: 'conflict', // DuplicateKey
  12501: 'full', // QuotaExceeded
  13435: 'unavailable', // NotPrimaryNoSecondaryOk
  13436: 'unavailable', // NotPrimaryOrSecondary
  14031: 'full', // OutOfDiskSpace
};

/** Error labels with the same meaning. */
const REJECTION_LABELS = [MongoErrorLabel.NoWritesPerformed, MongoErrorLabel.SystemOverloadedError];

const messages: Readonly<Record<Code, (label: string, why: string) => string>> = {
  unavailable: (label, why) => `The database ${label} is unavailable: ${why}.`,
  'outcome-unknown': (label, why) =>
    `The database ${label} did not confirm a write (${why}). Whether it was stored is unknown.`,
  full: (label, why) => `The database ${label} has no space left (${why}) and nothing was stored.`,
  forbidden: (label, why) =>
    `The database ${label} denies access to this user (${why}). Check the credentials in its URI and the privileges of the user.`,
  damaged: (label, why) => `Data in the database ${label} cannot be read: ${why}.`,
  conflict: (label, why) => `The record already exists in the database ${label}: ${why}.`,
  'key-reused': () => 'The idempotency key was used with another input.',
  closed: (label) => `The store in the database ${label} was closed.`,
};

/** Creates an error that the store itself detected. @param why a clause without a full stop */
export const storeError = (code: Code, { name }: DatabaseLabel, why = '') =>
  new StoreError(code, messages[code](name, why));

/** Maps any error of the driver to a StoreError. @param writeOutcome state of the operation's writes */
export function toStoreError(error: unknown, label: DatabaseLabel, writeOutcome: WriteOutcome): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error, writeOutcome);
  if (holdsSecret(error, label.secrets)) {
    const codeName = error instanceof MongoServerError ? error.codeName : undefined;
    const kind = codeName ?? (error instanceof Error ? error.name : typeof error);
    return new StoreError(
      code,
      messages[code](label.name, `${kind}, whose message is not shown because it contains a part of the URI`),
    );
  }
  const why = error instanceof Error ? error.message : String(error);
  return new StoreError(code, messages[code](label.name, why.replace(/\.$/, '')), { cause: error });
}

function codeOf(error: unknown, writeOutcome: WriteOutcome): Code {
  if (
    error instanceof MongoError &&
    (writeOutcome === 'not-stored' || (writeOutcome === 'unless-rejected' && isWriteResponse(error)))
  ) {
    const rejection = error instanceof MongoServerError ? REJECTION_CODES[Number(error.code)] : undefined;
    if (rejection !== undefined) return rejection;
    if (REJECTION_LABELS.some((label) => error.hasErrorLabel(label))) return 'unavailable';
  }
  if (writeOutcome !== 'not-stored') return 'outcome-unknown';
  return error instanceof BSON.BSONError ? 'damaged' : 'unavailable';
}

/**
 * Whether the server responded to the write itself: a retry after a lost connection that cannot connect or authenticate
 * says nothing about the first attempt. A write concern error comes after the write was applied.
 */
const isWriteResponse = (error: MongoError): boolean =>
  error instanceof MongoServerError &&
  !(error instanceof MongoWriteConcernError) &&
  !error.hasErrorLabel(MongoErrorLabel.HandshakeError);

export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11000;

/** Whether an insert has stored its document; `false` if its id or a unique value is taken. */
export async function isInserted(insert: Promise<unknown>): Promise<boolean> {
  try {
    await insert;
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

function holdsSecret(error: unknown, secrets: readonly string[]): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { message } = each;
    if (secrets.some((secret) => message.includes(secret))) return true;
  }
  return false;
}
