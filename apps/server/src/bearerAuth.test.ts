import { StoreError } from '@petstore/core';
import { expect, test } from 'vitest';
import { authenticateWith } from './bearerAuth.ts';
import { startServerInProcess } from '../test/testing/startServerInProcess.ts';

test('a cached identity is returned without a promise', () => {
  const ada = { name: 'Ada', hash: 'a hash' };
  expect(authenticateWith(() => ada)('key')).toBe(ada);
});

const unavailable = new StoreError('unavailable', '10.0.0.1 timed out');

test.each([
  ['503', 'cannot be read', '/v1/pets', unavailable],
  ['503', 'cannot be read', '/trpc/listPets', unavailable],
  ['500', 'fail unexpectedly', '/v1/pets', new TypeError('10.0.0.1 is not a function')],
] as const)(
  'a server answers %s, not 401, if the API keys of its store %s: GET %s',
  async (status, _, path, error) => {
    for (const find of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const { origin } = await startServerInProcess({}, ({ keys }) => ({ keys: { ...keys, find } }));
      const response = await fetch(origin + path, { headers: { authorization: 'Bearer psk_of-the-store' } });
      expect(response.status).toBe(Number(status));
      expect(await response.text()).not.toContain('10.0.0.1');
    }
  },
);
