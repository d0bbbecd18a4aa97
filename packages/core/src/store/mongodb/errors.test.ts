import {
  BSON,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type MongoError,
  MongoWriteConcernError,
  type TopologyDescription,
} from 'mongodb';
import { describe, expect, test } from 'vitest';
import type { StoreErrorCode } from '../storeError.ts';
import { toStoreError } from './errors.ts';

const label = { name: 'petstore at db.example:27017', secrets: ['s3cret', 'alice'] };

const server = (code: number, errorLabels: string[] = []) =>
  new MongoServerError({ ok: 0, code, errmsg: `code ${code}`, errorLabels });
const writeConcern = (code: number) =>
  new MongoWriteConcernError({ ok: 1, writeConcernError: { code, errmsg: 'waiting for replication' } });
// The class is not exported, and the error reads only `error`.
const description = { error: new Error('connect ECONNREFUSED 127.0.0.1:1') } as TopologyDescription;
const selection = new MongoServerSelectionError('timed out', description);
function labelled(error: MongoError, errorLabel: string): MongoError {
  error.addErrorLabel(errorLabel);
  return error;
}

type Row = readonly [name: string, error: unknown, unsent: StoreErrorCode, sent: StoreErrorCode];
const rows: readonly Row[] = [
  ['no server', selection, 'unavailable', 'outcome-unknown'],
  ['a lost connection', new MongoNetworkError('closed'), 'unavailable', 'outcome-unknown'],
  ['NotWritablePrimary', server(10107), 'unavailable', 'unavailable'],
  ['PrimarySteppedDown', server(189), 'unavailable', 'outcome-unknown'],
  ['MaxTimeMSExpired', server(50), 'unavailable', 'outcome-unknown'],
  ['an unknown code', server(987_654), 'unavailable', 'outcome-unknown'],
  ['no write performed', server(91, ['NoWritesPerformed']), 'unavailable', 'unavailable'],
  ['an overloaded server', server(462, ['SystemOverloadedError']), 'unavailable', 'unavailable'],
  [
    'an overload while connecting',
    labelled(new MongoNetworkError('reset'), 'SystemOverloadedError'),
    'unavailable',
    'outcome-unknown',
  ],
  ['a rejected login', server(18, ['HandshakeError']), 'forbidden', 'outcome-unknown'],
  ['a proxy that rejects the connection', server(8000, ['HandshakeError']), 'unavailable', 'outcome-unknown'],
  ['a write concern that timed out', writeConcern(64), 'unavailable', 'outcome-unknown'],
  ['a step-down while waiting for the write concern', writeConcern(10107), 'unavailable', 'outcome-unknown'],
  ['Unauthorized', server(13), 'forbidden', 'forbidden'],
  ['AtlasError', server(8000), 'unavailable', 'unavailable'],
  ['OutOfDiskSpace', server(14_031), 'full', 'full'],
  ['DuplicateKey', server(11_000), 'conflict', 'conflict'],
  ['BSON that cannot be read', new BSON.BSONError('bad'), 'damaged', 'outcome-unknown'],
  ['a wrong argument', new MongoInvalidArgumentError('wrong'), 'unavailable', 'outcome-unknown'],
  ['a thrown string', 'text', 'unavailable', 'outcome-unknown'],
];

describe('an error of the driver', () => {
  test.for(rows)('toStoreError maps %s by whether a write was sent', ([, error, unsent, sent]) => {
    expect(toStoreError(error, label, 'not-stored')).toMatchObject({ name: 'StoreError', code: unsent });
    expect(toStoreError(error, label, 'unless-rejected')).toMatchObject({ name: 'StoreError', code: sent });
    // Other calls may store the record.
    expect(toStoreError(error, label, 'unknown').code).toBe('outcome-unknown');
  });

  test.for(['s3cret', 'alice'])(
    'toStoreError drops the message and the cause of an error that contains %s of the URI',
    (secret) => {
      const inner = new Error(`cannot log in with ${secret}`);
      const error = new MongoNetworkError('rejected', { cause: inner });
      const shown = toStoreError(error, label, 'not-stored');
      expect(shown.cause).toBeUndefined();
      expect(`${shown.message}${shown.stack}`).not.toContain(secret);
    },
  );

  test('toStoreError returns a StoreError unchanged', () => {
    const error = toStoreError(server(18), label, 'not-stored');
    expect(toStoreError(error, label, 'unknown')).toBe(error);
  });
});
