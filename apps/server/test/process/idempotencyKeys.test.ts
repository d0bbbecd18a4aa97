import { hashKey } from '@petstore/core';
import { expect, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

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
