import { StoreError, type StoreErrorCode } from '@petstore/core';
import { TRPCError } from '@trpc/server';

const message =
  'connect ECONNREFUSED mongodb://root:hunter2@db.internal:27017/pets?authSource=admin; see /srv/petstore/data/data.mdb';

/** Parts of what is thrown below: where one of them is in an answer, something was shown. */
export const secrets: readonly string[] = [
  'hunter2',
  'mongodb',
  'db.internal',
  // With its colon: a request id may hold these digits.
  ':27017',
  'authSource',
  'ECONNREFUSED',
  '/srv/',
  'data.mdb',
  'Topology',
  'stack',
  'node_modules',
  'failures.ts',
  'petstore/packages',
  '    at ',
  'file:',
  'StoreError',
  'MongoError',
];

/** Something that a store may throw. */
export interface Failure {
  readonly what: string;
  /** Anew for each throw. */
  readonly make: () => unknown;
  /** What clients are told of it, on each protocol. */
  readonly told: { readonly code: string; readonly status: number };
}

export const unexpected: Failure['told'] = { code: 'INTERNAL_SERVER_ERROR', status: 500 };

/** `procedures/records.ts` states these; stated again, so that a change of one is seen. */
const storeErrors: Readonly<Record<StoreErrorCode, Failure['told']>> = {
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
};

const plain = () => new Error(message, { cause: new Error(`Topology is closed: ${message}`) });
const unforeseen = (what: string, make: () => unknown): Failure => ({ what, make, told: unexpected });
const trpc = (code: TRPCError['code'], status: number): Failure => ({
  what: `a TRPCError ${code} that says no more than its cause`,
  make: () => new TRPCError({ code, cause: plain() }),
  told: { code, status },
});

export const failures: readonly Failure[] = [
  unforeseen('an Error', plain),
  unforeseen('a TypeError with members', () =>
    Object.assign(new TypeError(message), {
      code: 'ECONNREFUSED',
      path: '/srv/petstore',
      address: 'db.internal',
    }),
  ),
  unforeseen('an AggregateError', () => new AggregateError([plain(), plain()], message)),
  unforeseen('an Error with issues, as of a schema', () =>
    Object.assign(plain(), { name: 'MongoError', issues: [{ path: [message], message }] }),
  ),
  unforeseen('a DOMException', () => new DOMException(message, 'AbortError')),
  unforeseen('a text', () => message),
  unforeseen('a number', () => 27_017),
  unforeseen('a symbol', () => Symbol(message)),
  unforeseen('a function', () => () => message),
  unforeseen('an object', () => ({
    message,
    name: 'MongoError',
    stack: plain().stack,
    code: 'ECONNREFUSED',
  })),
  unforeseen('nothing', () => undefined),
  unforeseen('null', () => null),
  ...Object.entries(storeErrors).map(([name, told]): Failure => ({
    what: `a StoreError ${name}`,
    make: () => new StoreError(name as StoreErrorCode, message, { cause: plain() }),
    told,
  })),
  trpc('INTERNAL_SERVER_ERROR', 500),
  trpc('BAD_REQUEST', 400),
  trpc('NOT_FOUND', 404),
  trpc('CONFLICT', 409),
  trpc('TIMEOUT', 408),
  trpc('SERVICE_UNAVAILABLE', 503),
  trpc('GATEWAY_TIMEOUT', 504),
  {
    what: 'a TRPCError whose cause is a StoreError',
    make: () =>
      new TRPCError({
        code: 'SERVICE_UNAVAILABLE',
        cause: new StoreError('unavailable', message, { cause: plain() }),
      }),
    told: storeErrors.unavailable,
  },
];
