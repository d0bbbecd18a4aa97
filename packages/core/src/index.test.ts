import { expect, it } from 'vitest';
import * as root from './index.ts';
import * as store from './store/index.ts';
import * as mongodb from './store/mongodb/index.ts';

it('the entry points of @petstore/core export exactly these names', () => {
  expect(Object.keys(root).toSorted()).toEqual([
    'Animal',
    'ApiError',
    'NewPet',
    'PetId',
    'PetStatus',
    'Pets',
    'StoreError',
    'animals',
    'appRouter',
    'collections',
    'createKeyVerifier',
    'createRecord',
    'defineCollection',
    'deleteRecord',
    'getRecord',
    'hashKey',
    'issueKey',
    'listRecords',
    'updateRecord',
  ]);
  expect(Object.keys(store).toSorted()).toEqual([
    'MAX_RESERVATIONS',
    'RESERVATION_MS',
    'StoreError',
    'applyChange',
    'batchLimit',
    'buildRecord',
    'checkVersion',
    'defineCollection',
    'expectedVersion',
    'fingerprint',
    'indexedCondition',
    'isSameKey',
    'mismatch',
    'openedCollections',
    'recordConflict',
    'shouldPutReservation',
    'singular',
    'throwIncompatible',
    'tooManyReservations',
  ]);
  expect(Object.keys(mongodb).toSorted()).toEqual(['openMongodbStore']);
});
