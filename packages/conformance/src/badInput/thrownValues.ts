import { StoreError, type StoreErrorCode } from '@petstore/core';
import { TRPCError } from '@trpc/server';

const message =
  'connect ECONNREFUSED mongodb://root:hunter2@db.internal:27017/pets?authSource=admin; see /srv/petstore/data/data.mdb';

/** Parts of the values that are thrown below. A response that contains one of them leaks the error. */
export const secrets: readonly string[] = [
  'hunter2',
  'mongodb',
  'db.internal',
  // With its colon: a request id may contain these digits.
  ':27017',
  'authSource',
  'ECONNREFUSED',
  '/srv/',
  'data.mdb',
  'Topology',
  'stack',
  'node_modules',
  'thrownValues.ts',
  'petstore/packages',
  '    at ',
  'file:',
  'StoreError',
  'MongoError',
];

/** The error that a client receives, on each protocol. */
export interface ClientError {
  readonly code: string;
  readonly status: number;
}

/** A value that a store may throw. */
export interface ThrownValue {
  readonly title: string;
  /** Creates a new value for each throw. */
  readonly create: () => unknown;
  readonly clientError: ClientError;
}

/** The response to every error that the gateway does not know. */
export const unexpected: ClientError = { code: 'INTERNAL_SERVER_ERROR', status: 500 };

/** Repeats the mapping of `procedures/records.ts`, so that a change there fails a test. */
const storeErrors: Readonly<Record<StoreErrorCode, ClientError>> = {
  unavailable: { code: 'SERVICE_UNAVAILABLE', status: 503 },
  full: { code: 'SERVICE_UNAVAILABLE', status: 503 },
  forbidden: { code: 'SERVICE_UNAVAILABLE', status: 503 },
  fatal: { code: 'SERVICE_UNAVAILABLE', status: 503 },
  closed: { code: 'SERVICE_UNAVAILABLE', status: 503 },
  'outcome-unknown': { code: 'GATEWAY_TIMEOUT', status: 504 },
  'key-reused': { code: 'UNPROCESSABLE_CONTENT', status: 422 },
  'too-many-reservations': { code: 'TOO_MANY_REQUESTS', status: 429 },
  conflict: { code: 'CONFLICT', status: 409 },
  invalid: { code: 'BAD_REQUEST', status: 400 },
  'version-mismatch': { code: 'CONFLICT', status: 409 },
  'migration-needed': { code: 'SERVICE_UNAVAILABLE', status: 503 },
  damaged: unexpected,
  incompatible: unexpected,
};

const newError = () => new Error(message, { cause: new Error(`Topology is closed: ${message}`) });
const unexpectedValue = (title: string, create: () => unknown): ThrownValue => ({
  title,
  create,
  clientError: unexpected,
});
const trpcError = (code: TRPCError['code'], status: number): ThrownValue => ({
  title: `a TRPCError ${code} with the message of its cause`,
  create: () => new TRPCError({ code, cause: newError() }),
  clientError: { code, status },
});

export const thrownValues: readonly ThrownValue[] = [
  unexpectedValue('an Error', newError),
  unexpectedValue('a TypeError with members', () =>
    Object.assign(new TypeError(message), {
      code: 'ECONNREFUSED',
      path: '/srv/petstore',
      address: 'db.internal',
    }),
  ),
  unexpectedValue('an AggregateError', () => new AggregateError([newError(), newError()], message)),
  unexpectedValue('an Error with issues, as a schema throws', () =>
    Object.assign(newError(), { name: 'MongoError', issues: [{ path: [message], message }] }),
  ),
  unexpectedValue('a DOMException', () => new DOMException(message, 'AbortError')),
  unexpectedValue('a string', () => message),
  unexpectedValue('a number', () => 27_017),
  unexpectedValue('a symbol', () => Symbol(message)),
  unexpectedValue('a function', () => () => message),
  unexpectedValue('an object', () => ({
    message,
    name: 'MongoError',
    stack: newError().stack,
    code: 'ECONNREFUSED',
  })),
  unexpectedValue('undefined', () => undefined),
  unexpectedValue('null', () => null),
  ...Object.entries(storeErrors).map(([name, clientError]): ThrownValue => ({
    title: `a StoreError ${name}`,
    create: () => new StoreError(name as StoreErrorCode, message, { cause: newError() }),
    clientError,
  })),
  trpcError('INTERNAL_SERVER_ERROR', 500),
  trpcError('BAD_REQUEST', 400),
  trpcError('NOT_FOUND', 404),
  trpcError('CONFLICT', 409),
  trpcError('TIMEOUT', 408),
  trpcError('SERVICE_UNAVAILABLE', 503),
  trpcError('GATEWAY_TIMEOUT', 504),
  {
    title: 'a TRPCError with a StoreError as its cause',
    create: () =>
      new TRPCError({
        code: 'SERVICE_UNAVAILABLE',
        cause: new StoreError('unavailable', message, { cause: newError() }),
      }),
    clientError: storeErrors.unavailable,
  },
];
