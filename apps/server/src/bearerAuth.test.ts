import { StoreError } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { authenticateWith } from './bearerAuth.ts';
import { startServerInProcess } from '../test/testing/startServerInProcess.ts';

const ada = { name: 'Ada', hash: 'a hash' };
const unavailable = new StoreError('unavailable', '10.0.0.1 timed out');
const bug = new TypeError('x is not a function');

describe('authenticateWith', () => {
  test('authenticateWith returns a synchronous result without a promise', () => {
    expect(authenticateWith(() => ada)('key')).toBe(ada);
    expect(authenticateWith(() => undefined)('key')).toBeUndefined();
  });

  test('authenticateWith returns an asynchronous result as a promise', async () => {
    expect(await authenticateWith(async () => ada)('key')).toBe(ada);
  });

  const failing = [
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
  ] as const;
  test.each(failing)(
    'authenticateWith answers 503 without details if the store fails %s',
    async (_, fails) => {
      const verdict = async () => authenticateWith(fails(unavailable))('key');
      await expect(verdict).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: 'API keys cannot be verified at the moment. Try again later.',
        cause: unavailable,
      });
    },
  );

  test.each(failing)('authenticateWith rethrows an unexpected error that is thrown %s', async (_, fails) => {
    const verdict = async () => authenticateWith(fails(bug))('key');
    await expect(verdict).rejects.toBe(bug);
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
