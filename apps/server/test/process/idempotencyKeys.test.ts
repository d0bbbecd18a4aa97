import { hashKey, StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';
import { createPet, rex } from '../testing/petCalls.ts';

const sentence =
  'Idempotency-Key: too many keys were used with this API key within a day. Try again later, or send no Idempotency-Key.';

test.for(['/v1/pets', '/trpc/createPet'])(
  'POST %s answers 429 with Retry-After if the API key has used too many idempotency keys',
  async (path) => {
    const full = new StoreError('too-many-reservations', 'Too many.', { retryAfterSeconds: 4711 });
    const { origin } = await startServerInProcess({}, () => ({ createOnce: () => Promise.reject(full) }));
    const create = (headers: Readonly<Record<string, string>>) =>
      fetch(origin + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ name: 'Rex', categoryId: 1 }),
      });
    const response = await create({ 'idempotency-key': 'one-more' });
    expect({ status: response.status, retryAfter: response.headers.get('retry-after') }).toEqual({
      status: 429,
      retryAfter: '4711',
    });
    expect(await response.text()).toContain(sentence);
    expect((await create({})).ok).toBe(true);
  },
);

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
