import { BSON, MongoError, MongoErrorLabel, MongoServerError, MongoWriteConcernError } from 'mongodb';
import { StoreError, type StoreErrorCode } from '../storeError.ts';
import type { Doubt } from './operation.ts';

/** What names the database in messages: hosts and name, never credentials. */
export interface Place {
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
const REFUSALS: Readonly<Record<number, Code>> = {
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
const REFUSAL_LABELS = [MongoErrorLabel.NoWritesPerformed, MongoErrorLabel.SystemOverloadedError];

const sentences: Readonly<Record<Code, (place: string, why: string) => string>> = {
  unavailable: (place, why) => `The database ${place} cannot serve now: ${why}.`,
  'outcome-unknown': (place, why) =>
    `The database ${place} did not confirm a write (${why}): whether it was stored is unknown.`,
  full: (place, why) => `The database ${place} has no space left (${why}) and nothing was stored.`,
  forbidden: (place, why) =>
    `The database ${place} refuses this user (${why}): check the credentials in its URI and the rights of the user.`,
  damaged: (place, why) => `What is stored in the database ${place} cannot be read: ${why}.`,
  conflict: (place, why) => `It is in the database ${place} already: ${why}.`,
  'key-reused': () => 'The idempotency key was used with another input.',
  closed: (place) => `The store in the database ${place} was closed.`,
};

/** A failure that the store itself found. `why` is a clause without a full stop. */
export const storeError = (code: Code, { name }: Place, why = '') =>
  new StoreError(code, sentences[code](name, why));

/** Folds what the driver threw into the one error of every store. This is the only place that does. */
export function toStoreError(error: unknown, place: Place, doubt: Doubt): StoreError {
  if (error instanceof StoreError) return error;
  const code = codeOf(error, doubt);
  if (holdsSecret(error, place.secrets)) {
    const label = error instanceof MongoServerError ? error.codeName : undefined;
    const kind = label ?? (error instanceof Error ? error.name : typeof error);
    return new StoreError(
      code,
      sentences[code](place.name, `${kind}, whose text is not shown since it holds a part of the URI`),
    );
  }
  const why = error instanceof Error ? error.message : String(error);
  return new StoreError(code, sentences[code](place.name, why.replace(/\.$/, '')), { cause: error });
}

function codeOf(error: unknown, doubt: Doubt): Code {
  if (
    error instanceof MongoError &&
    (doubt === 'none' || (doubt === 'unless-refused' && isResponse(error)))
  ) {
    const refusal = error instanceof MongoServerError ? REFUSALS[Number(error.code)] : undefined;
    if (refusal !== undefined) return refusal;
    if (REFUSAL_LABELS.some((label) => error.hasErrorLabel(label))) return 'unavailable';
  }
  if (doubt !== 'none') return 'outcome-unknown';
  return error instanceof BSON.BSONError ? 'damaged' : 'unavailable';
}

/**
 * Whether a server answers the write that was sent. The driver repeats a write whose connection was lost, and where the
 * repeat fails while it connects or logs in, that says nothing about the first attempt. A write concern that failed is
 * the answer to a write that was done.
 */
const isResponse = (error: MongoError): boolean =>
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
