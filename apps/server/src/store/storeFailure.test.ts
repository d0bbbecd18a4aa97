import { StoreError } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { expect, test } from 'vitest';
import { storeFailure } from './storeFailure.ts';

const full = new StoreError('full', 'no space', { cause: new StoreError('damaged', 'why') });
const fatal = new StoreError('fatal', 'no disk');

test.each([
  ['an error of the store', full, { store: 'full' }],
  ['an error with that cause', new TRPCError({ code: 'TIMEOUT', cause: fatal }), { store: 'fatal' }],
  ['another error', new TypeError('no'), undefined],
  ['another error with a cause', new Error('no', { cause: new TypeError('no') }), undefined],
  ['a value that is no error', 'no', undefined],
])('the kind of %s is the code of the error of the store, if there is one', (_, error, kind) => {
  expect(storeFailure(error)).toEqual(kind);
});
