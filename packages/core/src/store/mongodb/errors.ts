import { BSON, MongoError, MongoErrorLabel, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { StoreError, type StoreErrorCode } from '../storeError.ts';
import type { WriteOutcome } from './operation.ts';

/** What names the database in messages: hosts and name, never credentials. */
export interface DatabaseLabel {
  readonly name: string;
  /** What must not be in a message: user name, password, and whatever else the URI says in confidence. */
  readonly secrets: readonly string[];
}

/** A client of a database that comes back serves again: nothing is fatal to it. The others are made where they are found. */
type Code = Exclude<
  StoreErrorCode,
  'fatal' | 'invalid' | 'migration-needed' | 'too-many-reservations' | 'version-mismatch'
>;

/**
 * Answers of a server that refused a command before it did anything, by their code (error_codes.yml of MongoDB's
 * source). A write that was refused was certainly not stored. Every other failure of a write that was sent leaves it
 * open: a server that steps down or is shut down (91, 189, 11600, 11602), a write concern that failed or timed out (64,
 * 79, 100), a time limit (50, 262), an internal error (1), a lost connection.
 */
const REJECTION_CODES: Readonly<Record<number, Code>> = {
  13: 'forbidden', // Unauthorized
  18: 'forbidden', // AuthenticationFailed
  8000: 'unavailable', // AtlasError: its proxy refused
  10058: 'unavailable', // LegacyNotPrimary
  10107: 'unavailable', // NotWritablePrimary
  11000: 'conflict', // DuplicateKey
  12501: 'full', // QuotaExceeded
  13435: 'unavailable', // NotPrimaryNoSecondaryOk
  13436: 'unavailable', // NotPrimaryOrSecondary
  14031: 'full', // OutOfDiskSpace
};

/** Labels with which a server says the same. */
const REJECTION_LABELS = [MongoErrorLabel.NoWritesPerformed, MongoErrorLabel.SystemOverloadedError];

const messages: Readonly<Record<Code, (label: string, why: string) => string>> = {
  unavailable: (label, why) => `The database ${label} cannot serve now: ${why}.`,
  'outcome-unknown': (label, why) =>
    `The database ${label} did not confirm a write (${why}): whether it was stored is unknown.`,
  full: (label, why) => `The database ${label} has no space left (${why}) and nothing was stored.`,
  forbidden: (label, why) =>
    `The database ${label} refuses this user (${why}): check the credentials in its URI and the rights of the user.`,
  damaged: (label, why) => `What is stored in the database ${label} cannot be read: ${why}.`,
  conflict: (label, why) => `It is in the database ${label} already: ${why}.`,
  'key-reused': () => 'The idempotency key was used with another input.',
  closed: (label) => `The store in the database ${label} was closed.`,
};

/** A failure that the store itself found. `why` is a clause without a full stop. */
export const storeError = (code: Code, { name }: DatabaseLabel, why = '') =>
  new StoreError(code, messages[code](name, why));

/** Folds what the driver threw into the one error of every store. This is the only place that does. */
export function toStoreError(error: unknown, label: DatabaseLabel, writeOutcome: WriteOutcome): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error, writeOutcome);
  if (holdsSecret(error, label.secrets)) {
    const codeName = error instanceof MongoServerError ? error.codeName : undefined;
    const kind = codeName ?? (error instanceof Error ? error.name : typeof error);
    return new StoreError(
      code,
      messages[code](label.name, `${kind}, whose text is not shown since it holds a part of the URI`),
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
 * Whether a server answers the write that was sent. The driver repeats a write whose connection was lost, and where the
 * repeat fails while it connects or logs in, that says nothing about the first attempt. A write concern that failed is
 * the answer to a write that was done.
 */
const isWriteResponse = (error: MongoError): boolean =>
  error instanceof MongoServerError &&
  !(error instanceof MongoWriteConcernError) &&
  !error.hasErrorLabel(MongoErrorLabel.HandshakeError);

/** Whether the driver says that what was to be added is there already. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11000;

function holdsSecret(error: unknown, secrets: readonly string[]): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { message } = each;
    if (secrets.some((secret) => message.includes(secret))) return true;
  }
  return false;
}
