import { hashKey, StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

test('POST /pets answers 429 with Retry-After if the API key has used too many idempotency keys', async () => {
  const full = new StoreError('too-many-reservations', 'Too many.', { retryAfterSeconds: 4711 });
  const { origin } = await startServerInProcess({}, () => ({ createOnce: () => Promise.reject(full) }));
  const response = await createPet(origin, rex, { headers: { 'idempotency-key': 'one-more' } });
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '4711']);
  expect(await response.text()).toContain('too many keys were used with this API key within a day');
  expect((await createPet(origin)).status).toBe(201);
});

test('an idempotency key belongs to the API key that is sent with it', async () => {
  const callers: unknown[] = [];
  const { origin } = await startServerInProcess({}, (store) => ({
    createOnce(values, reservation) {
      callers.push(reservation.caller);
      return store.createOnce(values, reservation);
    },
  }));
  await createPet(origin, rex, { headers: { 'idempotency-key': 'once' } });
  expect(callers).toEqual([hashKey(apiKey)]);
});
