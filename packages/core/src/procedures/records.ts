import { TRPCError } from '@trpc/server';
import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from '../store/collection.ts';
import type { ChangeOptions, ListQuery } from '../store/store.ts';
import { StoreError, type StoreErrorCode } from '../store/storeError.ts';
import type { Context } from '../trpc.ts';

/** The response where the store fails. The store's own message names paths and causes: it is for the log. */
const clientErrors: Record<StoreErrorCode, readonly [code: TRPCError['code'], message: string]> = {
  unavailable: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  full: ['SERVICE_UNAVAILABLE', 'The store is full; nothing was stored. Try again later.'],
  forbidden: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  fatal: ['SERVICE_UNAVAILABLE', 'The store cannot serve now; nothing was stored. Try again later.'],
  closed: ['SERVICE_UNAVAILABLE', 'The service is stopping; nothing was stored. Try again later.'],
  'outcome-unknown': [
    'GATEWAY_TIMEOUT',
    'The store did not answer in time: whether the record was stored is unknown.',
  ],
  'key-reused': ['UNPROCESSABLE_CONTENT', 'Idempotency-Key: it was used with another input; use a new key.'],
  'too-many-reservations': [
    'TOO_MANY_REQUESTS',
    'Idempotency-Key: this API key has used too many of them within a day; try again later, or send none.',
  ],
  conflict: ['CONFLICT', 'A record with these values already exists.'],
  invalid: ['BAD_REQUEST', 'The record with this change would not be valid.'],
  'version-mismatch': [
    'CONFLICT',
    'The record was changed since it was read. Read it again and repeat the change.',
  ],
  'migration-needed': [
    'SERVICE_UNAVAILABLE',
    'The store cannot serve now; nothing was stored. Try again later.',
  ],
  damaged: ['INTERNAL_SERVER_ERROR', 'Internal server error'],
};

/** What the procedures of a stored resource need of their context. */
type RecordContext = Pick<Context, 'store' | 'response'>;
type CreateContext = Pick<Context, 'store' | 'response' | 'caller' | 'idempotencyKey'>;
type Signal = AbortSignal | undefined;

/** Reads a page of records. REST responses link to the next one. */
export function listRecords<Stored extends StoredRecord, Indexed extends string>(
  { store, response }: RecordContext,
  definition: CollectionDefinition<Stored, Indexed>,
  query: ListQuery<Stored, Indexed>,
  signal: Signal,
): Stored[] | Promise<Stored[]> {
  return storeCall(
    () => store.collection(definition).list(query, { signal }),
    ({ records, hasNext }) => {
      if (hasNext) response.nextCursor = records.at(-1)?.id;
      return records;
    },
  );
}

/** Creates a record: once, however often the request is repeated, where it carries an `Idempotency-Key`. */
export function createRecord<Stored extends StoredRecord, Indexed extends string>(
  { store, response, caller = '', idempotencyKey }: CreateContext,
  definition: CollectionDefinition<Stored, Indexed>,
  values: NewRecord<Stored>,
  signal: Signal,
): Stored | Promise<Stored> {
  if (idempotencyKey === undefined) {
    return storeCall(
      () => store.collection(definition).create(values, { signal }),
      (record) => record,
    );
  }
  return storeCall(
    () => store.collection(definition).createOnce(values, { caller, key: idempotencyKey }, { signal }),
    ({ record, isReplay }) => {
      if (isReplay) response.replayed();
      return record;
    },
  );
}

/** Reads one record. @throws {TRPCError} NOT_FOUND */
export function getRecord<Stored extends StoredRecord, Indexed extends string>(
  { store }: Pick<RecordContext, 'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
  signal: Signal,
): Stored | Promise<Stored> {
  return storeCall(
    // An id beyond ±(2^53−1) is a well-formed int64 that no record has: a double may not even hold it exactly.
    () => (Number.isSafeInteger(id) ? store.collection(definition).get(id, { signal }) : undefined),
    (record) => record ?? throwNotFound(definition),
  );
}

/** Changes some fields of a record. @throws {TRPCError} NOT_FOUND; CONFLICT where it has another version than `ifVersion` */
export function updateRecord<Stored extends StoredRecord, Indexed extends string>(
  { store }: Pick<RecordContext, 'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
  change: RecordChange<Stored>,
  options: ChangeOptions<Stored>,
): Stored | Promise<Stored> {
  return storeCall(
    () => (Number.isSafeInteger(id) ? store.collection(definition).update(id, change, options) : undefined),
    (record) => record ?? throwNotFound(definition),
  );
}

/** Deletes a record. @throws {TRPCError} NOT_FOUND; CONFLICT where it has another version than `ifVersion` */
export function deleteRecord<Stored extends StoredRecord, Indexed extends string>(
  { store }: Pick<RecordContext, 'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
  options: ChangeOptions<Stored>,
): void | Promise<void> {
  return storeCall(
    () => Number.isSafeInteger(id) && store.collection(definition).delete(id, options),
    (isDeleted) => {
      if (!isDeleted) throwNotFound(definition);
    },
  );
}

/** Made once for each collection: to note where an error is made costs more than to look a record up. */
const notFoundErrors = new Map<string, TRPCError>();

function throwNotFound({ recordName }: { readonly recordName: string }): never {
  let error = notFoundErrors.get(recordName);
  if (error === undefined) {
    error = new TRPCError({ code: 'NOT_FOUND', message: `There is no ${recordName} with this id.` });
    notFoundErrors.set(recordName, error);
  }
  throw error;
}

/**
 * Calls the store for a procedure and maps its result: synchronously where the store returns no promise, since an await is
 * a large part of what such a call costs.
 * @throws {TRPCError} for a `StoreError`, with it as the cause
 */
function storeCall<T, R>(call: () => T | Promise<T>, output: (result: T) => R): R | Promise<R> {
  let found: T | Promise<T>;
  try {
    found = call();
  } catch (cause) {
    return throwClientError(cause);
  }
  // Not within the `try`: what `output` throws is for the client, and to throw it once more costs 3 µs.
  return found instanceof Promise ? found.then(output, throwClientError) : output(found);
}

function throwClientError(cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause;
  const [code, message] = clientErrors[cause.code];
  throw new TRPCError({ code, message, cause });
}
