import { StoreError } from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { expect, test } from 'vitest';
import { storeChecks, storeFailure } from './storeFailure.ts';

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

// The name of the check is the reason if the store does not respond.
test.each([
  ['is damaged', new StoreError('damaged', 'a page is damaged'), 'damaged'],
  ['is unavailable', new StoreError('unavailable', '10.0.0.1 timed out'), 'unavailable'],
  ['fails unexpectedly', new TypeError('x is not a function'), 'unknown'],
])('the reason of /readyz is one word if the store %s', async (_, cause, reason) => {
  const { unavailable = () => {} } = storeChecks({ ready: () => Promise.reject(cause) });
  await expect(async () => unavailable()).rejects.toMatchObject({ reason, cause });
});
