import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/** Declares the cases about credentials: docs/decisions.md#401 (RFC 6750, RFC 9110 §11). */
export function authenticationCases(subject: Subject): void {
  describe('docs/decisions.md#401', () => {
    it.each<readonly [string, string | null]>([
      ['no Authorization header', null],
      ['an empty Authorization header', ''],
      ['the Basic scheme', `Basic ${Buffer.from('user:password').toString('base64')}`],
    ])(
      'GET /pets answers 401 with a Bearer challenge without an error code to %s',
      async (_what, authorization) => {
        const response = await subject.client.get('/v1/pets', { authorization });
        expect(response).toBeError(401);
        expect(response.header('www-authenticate')).toBe('Bearer realm="petstore"');
      },
    );

    it.each(['unknown', 'psk_0123456789012345678901234567890123456789012', '0'])(
      'GET /pets answers 401 with error="invalid_token" to the unknown key "%s"',
      async (key) => {
        const received = await subject.client.get('/v1/pets', { authorization: `Bearer ${key}` });
        expect(received).toBeError(401);
        const challenge = received.header('www-authenticate') ?? '';
        expect(challenge).toMatch(/^Bearer realm="petstore", /);
        expect(challenge).toMatch(/, error="invalid_token"(,|$)/);
      },
    );

    it.each<readonly [string, (key: string) => string]>([
      ['a scheme without a key', () => 'Bearer'],
      ['a scheme and a space', () => 'Bearer '],
      ['the key without a scheme', (key) => key],
      ['the key after another scheme', (key) => `Token ${key}`],
      ['the key after Basic', (key) => `Basic ${key}`],
      ['a scheme and a key without a space between', (key) => `Bearer${key}`],
      ['the key in quotes', (key) => `Bearer "${key}"`],
      ['the key sent twice', (key) => `Bearer ${key} ${key}`],
      ['the key with a trailing comma', (key) => `Bearer ${key},`],
      ['the key without its last character', (key) => `Bearer ${key.slice(0, -1)}`],
      ['the key with one more character', (key) => `Bearer ${key}0`],
      ['the key with its letter case swapped', (key) => `Bearer ${swapCase(key)}`],
      ['bytes that a token cannot contain', () => 'Bearer \u00e9\u00ff'],
    ])('GET /pets rejects an Authorization header with 401: %s', async (_what, authorization) => {
      const { client } = subject;
      expect(await client.get('/v1/pets', { authorization: authorization(client.apiKey) })).toBeError(401);
    });

    it.each(['access_token', 'api_key', 'apiKey', 'key', 'authorization'])(
      'GET /pets ignores a key in the query parameter %s and answers 401',
      async (name) => {
        const { client } = subject;
        expect(await client.get(`/v1/pets?${name}=${client.apiKey}`, { authorization: null })).toBeError(401);
      },
    );

    it('POST /pets ignores a key in the body, a cookie or another header and answers 401', async () => {
      const { client } = subject;
      const headers = [
        ['X-API-Key', client.apiKey],
        ['Cookie', `Authorization=Bearer ${client.apiKey}`],
      ] as const;
      const body = { name: 'Ada', categoryId: 1, access_token: client.apiKey };
      expect(await client.post(body, { authorization: null, headers })).toBeError(401);
    });

    it('GET /pets checks the credential of every request on a connection', async () => {
      const { client } = subject;
      const statuses: number[] = [];
      for (const authorization of [`Bearer ${client.apiKey}`, null, `Bearer ${client.apiKey}`, 'Bearer x']) {
        statuses.push((await client.get('/v1/pets?limit=1', { authorization })).status);
      }
      expect(statuses).toEqual([200, 401, 200, 401]);
    });

    it('POST /pets stores nothing if it answers 400, 401 or 415', async () => {
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
