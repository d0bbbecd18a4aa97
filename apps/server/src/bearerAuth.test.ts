import { StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { authenticateWith } from './bearerAuth.ts';
import { startServerInProcess } from '../test/testing/startServerInProcess.ts';

const ada = { name: 'Ada', hash: 'a hash' };
const unavailable = new StoreError('unavailable', '10.0.0.1 timed out');

test('authenticateWith returns a synchronous result without a promise, and an asynchronous one as a promise', async () => {
  expect(authenticateWith(() => ada)('key')).toBe(ada);
  expect(await authenticateWith(async () => ada)('key')).toBe(ada);
});

test.each([
  [
    'synchronously',
    (error: Error) => () => {
      throw error;
    },
  ],
  [
    'asynchronously',
    (error: Error) => async () => {
      throw error;
    },
  ],
])('authenticateWith rethrows an unexpected error that is thrown %s', async (_, fails) => {
  const bug = new TypeError('x is not a function');
  await expect(async () => authenticateWith(fails(bug))('key')).rejects.toBe(bug);
  await expect(async () => authenticateWith(fails(unavailable))('key')).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    cause: unavailable,
  });
});

test.each(['/v1/pets', '/trpc/listPets'])(
  'GET %s answers 503, not 401, if the store cannot look up the API key',
  async (path) => {
    const { origin } = await startServerInProcess({}, ({ keys }) => ({
      keys: { ...keys, find: () => Promise.reject(unavailable) },
    }));
    const response = await fetch(origin + path, { headers: { authorization: 'Bearer psk_of-the-store' } });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('10.0.0.1');
  },
);
