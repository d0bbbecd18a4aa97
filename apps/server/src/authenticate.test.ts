import { StoreError } from '@petstore/core';
import { describe, expect, test } from 'vitest';
import { authenticateWith } from './authenticate.ts';

const ada = { name: 'Ada', hash: 'of her key' };
const away = new StoreError('unavailable', 'no answer from 10.0.0.1');
const bug = new TypeError('x is not a function');

describe('a token', () => {
  test('that is known is told at once, without a promise', () => {
    expect(authenticateWith(() => ada)('key')).toBe(ada);
    expect(authenticateWith(() => undefined)('key')).toBeUndefined();
  });

  test('that a store away knows is told later', async () => {
    expect(await authenticateWith(async () => ada)('key')).toBe(ada);
  });

  const failing = [
    [
      'at once',
      (error: Error) => () => {
        throw error;
      },
    ],
    [
      'later',
      (error: Error) => async () => {
        throw error;
      },
    ],
  ] as const;
  test.each(failing)(
    'is 503 while the store fails (%s), and the client is not told why',
    async (_, fails) => {
      const verdict = async () => authenticateWith(fails(away))('key');
      await expect(verdict).rejects.toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        message: 'API keys cannot be checked now. Try again later.',
        cause: away,
      });
    },
  );

  test.each(failing)('brings up what nobody expected (%s)', async (_, fails) => {
    const verdict = async () => authenticateWith(fails(bug))('key');
    await expect(verdict).rejects.toBe(bug);
  });
});
