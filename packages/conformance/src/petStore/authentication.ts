import { describe, expect, it } from 'vitest';
import type { Subject } from './subject.ts';

/** Credentials: docs/decisions.md#401 (RFC 6750, RFC 9110 §11). */
export function authenticationCases(subject: Subject): void {
  describe('docs/decisions.md#401', () => {
    it.each<readonly [string, string | null]>([
      ['no Authorization', null],
      ['an empty Authorization', ''],
      ['another scheme', `Basic ${Buffer.from('user:password').toString('base64')}`],
    ])('asks for a bearer token, without an error, where there is %s', async (_what, authorization) => {
      const response = await subject.client.get('/v1/pets', { authorization });
      expect(response).toBeError(401);
      expect(response.header('www-authenticate')).toBe('Bearer realm="petstore"');
    });

    it.each(['nobody', 'psk_0123456789012345678901234567890123456789012', '0'])(
      'says error="invalid_token" to a key that is not good: %s',
      async (key) => {
        const received = await subject.client.get('/v1/pets', { authorization: `Bearer ${key}` });
        expect(received).toBeError(401);
        const challenge = received.header('www-authenticate') ?? '';
        expect(challenge).toMatch(/^Bearer realm="petstore", /);
        expect(challenge).toMatch(/, error="invalid_token"(,|$)/);
      },
    );

    it.each(['Bearer', 'BEARER', 'bearer', 'bEaReR'])(
      'takes a good key after the scheme %s',
      async (scheme) => {
        const { client } = subject;
        const response = await client.get('/v1/pets', { authorization: `${scheme} ${client.apiKey}` });
        expect(response).toHaveStatus(200);
      },
    );

    it('takes more than one space after the scheme (RFC 6750 §2.1)', async () => {
      const { client } = subject;
      const response = await client.get('/v1/pets', { authorization: `Bearer   ${client.apiKey}` });
      expect(response).toHaveStatus(200);
    });

    it.each<readonly [string, (key: string) => string]>([
      ['a scheme without a key', () => 'Bearer'],
      ['a scheme and a space', () => 'Bearer '],
      ['the key without a scheme', (key) => key],
      ['the key after another scheme', (key) => `Token ${key}`],
      ['the key after Basic', (key) => `Basic ${key}`],
      ['no space between scheme and key', (key) => `Bearer${key}`],
      ['the key in quotes', (key) => `Bearer "${key}"`],
      ['the key and more', (key) => `Bearer ${key} ${key}`],
      ['the key and a comma', (key) => `Bearer ${key},`],
      ['a part of the key', (key) => `Bearer ${key.slice(0, -1)}`],
      ['the key and a character', (key) => `Bearer ${key}0`],
      ['the key in the other case', (key) => `Bearer ${swapCase(key)}`],
      ['bytes that no token has', () => 'Bearer \u00e9\u00ff'],
    ])('refuses %s', async (_what, authorization) => {
      const { client } = subject;
      expect(await client.get('/v1/pets', { authorization: authorization(client.apiKey) })).toBeError(401);
    });

    it.each(['access_token', 'api_key', 'apiKey', 'key', 'authorization'])(
      'ignores a key in the query: %s',
      async (name) => {
        const { client } = subject;
        expect(await client.get(`/v1/pets?${name}=${client.apiKey}`, { authorization: null })).toBeError(401);
      },
    );

    it('ignores a key in a body, a cookie or another header', async () => {
      const { client } = subject;
      const headers = [
        ['X-API-Key', client.apiKey],
        ['Cookie', `Authorization=Bearer ${client.apiKey}`],
      ] as const;
      const body = { name: 'Ada', categoryId: 1, access_token: client.apiKey };
      expect(await client.post(body, { authorization: null, headers })).toBeError(401);
    });

    it('asks on every request of a connection', async () => {
      const { client } = subject;
      const statuses: number[] = [];
      for (const authorization of [`Bearer ${client.apiKey}`, null, `Bearer ${client.apiKey}`, 'Bearer x']) {
        statuses.push((await client.get('/v1/pets?limit=1', { authorization })).status);
      }
      expect(statuses).toEqual([200, 401, 200, 401]);
    });

    it('stores nothing of what it refuses', async () => {
      const client = await subject.start();
      expect(await client.post({ name: 'Ada', categoryId: 1 }, { authorization: null })).toBeError(401);
      expect(await client.post({ name: 'Ada', categoryId: 1 }, { authorization: 'Bearer x' })).toBeError(401);
      expect(await client.post({ name: 'Ada', categoryId: 'x' })).toBeError(400);
      expect(await client.post({ name: 'Ada', categoryId: 1 }, { contentType: 'text/plain' })).toBeError(415);
      expect(await client.list()).toEqual([]);
    });
  });
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
