import { TRPCError } from '@trpc/server';
import type { CollectionDefinition, NewRecord, RecordChange, StoredRecord } from '../store/collection.ts';
import type { CallOptions, ChangeOptions, ListQuery } from '../store/store.ts';
import { StoreError, type StoreErrorCode } from '../store/storeError.ts';
import type { Context } from '../trpc.ts';

/** Describes the 503 of every procedure that calls the store, for `errorResponses`. */
export const storeUnavailable = { 503: 'The service or its store is unavailable; nothing was stored.' };

/** Describes the errors of a create, for `errorResponses`. */
export const createErrors = (recordName: string) => ({
  ...storeUnavailable,
  429: 'Too many calls, or too many idempotency keys used with one API key within a day.',
  504: `The store did not respond in time. Whether the ${recordName} was added is unknown.`,
});

const unavailable = [
  'SERVICE_UNAVAILABLE',
  'The store is unavailable; nothing was stored. Try again later.',
] as const;

/** Responses to errors of the store. The store's own messages contain paths and causes and are only logged. */
const clientErrors: Record<StoreErrorCode, readonly [code: TRPCError['code'], message: string]> = {
  unavailable,
  forbidden: unavailable,
  fatal: unavailable,
  'migration-needed': unavailable,
  full: ['SERVICE_UNAVAILABLE', 'The store is full; nothing was stored. Try again later.'],
  closed: ['SERVICE_UNAVAILABLE', 'The service is stopping; nothing was stored. Try again later.'],
  'outcome-unknown': [
    'GATEWAY_TIMEOUT',
    'The store did not respond in time. Whether the record was stored is unknown.',
  ],
  'key-reused': [
    'UNPROCESSABLE_CONTENT',
    'Idempotency-Key: was used with another input. To repeat that call, send it again as it was; use a new key only for another action.',
  ],
  'too-many-reservations': [
    'TOO_MANY_REQUESTS',
    'Idempotency-Key: too many keys were used with this API key within a day. Try again later, or send no Idempotency-Key.',
  ],
  conflict: ['CONFLICT', 'A record with these values already exists.'],
  invalid: ['BAD_REQUEST', 'The change would make the record invalid.'],
  'version-mismatch': [
    'CONFLICT',
    'The record was changed since it was read. Read it again and repeat the change.',
  ],
  damaged: ['INTERNAL_SERVER_ERROR', 'Internal server error'],
  incompatible: ['INTERNAL_SERVER_ERROR', 'Internal server error'],
};

/** The parts of a procedure's call that are used: of its context, and its signal, which is created when the store reads it. */
interface RecordCall<Used extends keyof Context> extends CallOptions {
  readonly ctx: Pick<Context, Used>;
}

/** Returns a page of records. REST responses link to the next page. @throws {TRPCError} */
export function listRecords<Stored extends StoredRecord, Indexed extends string>(
  call: RecordCall<'store' | 'response'>,
  definition: CollectionDefinition<Stored, Indexed>,
  query: ListQuery<Stored, Indexed>,
): Stored[] | Promise<Stored[]> {
  const { response, store } = call.ctx;
  return storeCall(
    () => store.collection(definition).list(query, call),
    ({ records, hasNext }) => {
      if (hasNext) response.nextCursor = records.at(-1)?.id;
      return records;
    },
  );
}

/** Does not compile with a field that the schema of the collection lacks: the store would drop it. */
type OnlyFieldsOf<Stored, Values> = Values & Readonly<Record<Exclude<keyof Values, keyof Stored>, never>>;

/** Creates a record. Retries with the same `Idempotency-Key` return the same record. @throws {TRPCError} */
export function createRecord<
  Stored extends StoredRecord,
  Indexed extends string,
  Values extends NewRecord<Stored>,
>(
  call: RecordCall<'store' | 'response' | 'caller' | 'idempotencyKey'>,
  definition: CollectionDefinition<Stored, Indexed>,
  values: OnlyFieldsOf<Stored, Values>,
): Stored | Promise<Stored> {
  const { store, response, caller = '', idempotencyKey } = call.ctx;
  if (idempotencyKey === undefined) {
    return storeCall(
      () => store.collection(definition).create(values, call),
      (record) => record,
    );
  }
  return storeCall(
    () => store.collection(definition).createOnce(values, { caller, key: idempotencyKey }, call),
    ({ record, isReplay }) => {
      if (isReplay) response.replayed();
      return record;
    },
  );
}

/** Returns one record. @throws {TRPCError} NOT_FOUND */
export function getRecord<Stored extends StoredRecord, Indexed extends string>(
  call: RecordCall<'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
): Stored | Promise<Stored> {
  return storeCall(
    // A double may not represent an id beyond ±(2^53−1) exactly, which a schema may accept: no record has it.
    () => (Number.isSafeInteger(id) ? call.ctx.store.collection(definition).get(id, call) : undefined),
    (record) => record ?? throwNotFound(definition),
  );
}

/** Changes fields of a record. @throws {TRPCError} NOT_FOUND; CONFLICT if the record does not have the version `ifVersion` */
export function updateRecord<
  Stored extends StoredRecord,
  Indexed extends string,
  Change extends RecordChange<Stored>,
>(
  { ctx: { store }, signal }: RecordCall<'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
  change: OnlyFieldsOf<Stored, Change>,
  ifVersion?: ChangeOptions<Stored>['ifVersion'],
): Stored | Promise<Stored> {
  // The compiler does not know which member of the conditional type `Stored` selects.
  const options = { signal, ifVersion } as ChangeOptions<Stored>;
  return storeCall(
    () => (Number.isSafeInteger(id) ? store.collection(definition).update(id, change, options) : undefined),
    (record) => record ?? throwNotFound(definition),
  );
}

/** Deletes a record. @throws {TRPCError} NOT_FOUND; CONFLICT if the record does not have the version `ifVersion` */
export function deleteRecord<Stored extends StoredRecord, Indexed extends string>(
  { ctx: { store }, signal }: RecordCall<'store'>,
  definition: CollectionDefinition<Stored, Indexed>,
  id: number,
  ifVersion?: ChangeOptions<Stored>['ifVersion'],
): void | Promise<void> {
  // As above.
  const options = { signal, ifVersion } as ChangeOptions<Stored>;
  return storeCall(
    () => Number.isSafeInteger(id) && store.collection(definition).delete(id, options),
    (isDeleted) => {
      if (!isDeleted) throwNotFound(definition);
    },
  );
}

/** One shared error per collection: capturing a stack trace costs more than looking up a record. */
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
 * Calls the store and maps its result, synchronously if the store is: an await is a large part of a call's cost.
 * @throws {TRPCError} for a `StoreError`, with that error as the cause
 */
function storeCall<T, R>(call: () => T | Promise<T>, output: (result: T) => R): R | Promise<R> {
  let stored: T | Promise<T>;
  try {
    stored = call();
  } catch (cause) {
    return throwClientError(cause);
  }
  // Outside the `try`: errors of `output` are for the client already, and rethrowing costs 3 µs.
  return stored instanceof Promise ? stored.then(output, throwClientError) : output(stored);
}

function throwClientError(cause: unknown): never {
  if (!(cause instanceof StoreError)) throw cause;
  const [code, message] = clientErrors[cause.code];
  throw new TRPCError({ code, message, cause });
}
