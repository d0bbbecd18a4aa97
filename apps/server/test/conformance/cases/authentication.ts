import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/**
 * Declares the cases about credentials: docs/interface.md#authentication and docs/decisions.md#401. All forms of
 * `Authorization` are the gateway's: packages/gateway/test/credentials.
 */
export function authenticationCases(subject: Subject): void {
  describe('docs/decisions.md#401', () => {
    it.each([
      ['GET', '/v1/pets', undefined],
      ['POST', '/v1/pets', { name: 'Ada', categoryId: 1 }],
      ['GET', '/v1/pets/1', undefined],
    ] as const)(
      '%s %s answers 401 with a challenge that says what is wrong',
      async (method, target, body) => {
        const { client } = subject;
        for (const [authorization, challenge] of [
          [null, /^Bearer realm="petstore"$/],
          ['Basic dXNlcjpwYXNzd29yZA==', /^Bearer realm="petstore"$/],
          ['Bearer psk_wrong', /^Bearer realm="petstore", .*error="invalid_token"(,|$)/],
          [`Bearer ${client.apiKey}0`, /error="invalid_token"/],
        ] as const) {
          const response = await client.send(method, target, { body, authorization });
          expect(response).toBeError(401);
          expect(response.header('www-authenticate')).toMatch(challenge);
        }
      },
    );

    it('GET /pets ignores a key in the query, and checks the credential of every request on a connection', async () => {
      const { client } = subject;
      const key = `Bearer ${client.apiKey}`;
      const target = `/v1/pets?limit=1&access_token=${client.apiKey}`;
      const statuses: number[] = [];
      for (const authorization of [key, null, key, 'Bearer x']) {
        statuses.push((await client.get(target, { authorization })).status);
      }
      expect(statuses).toEqual([200, 401, 200, 401]);
    });
  });
}
