import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../client.ts';
import type { Subject } from '../subject.ts';

const PETS_PATH = '/v1/pets';
const PET_PATH = '/v1/pets/1';
const ALLOWED = {
  [PETS_PATH]: ['GET', 'HEAD', 'OPTIONS', 'POST'],
  [PET_PATH]: ['GET', 'HEAD', 'OPTIONS'],
};

/** Declares the cases about methods: docs/decisions.md#other-statuses, docs/decisions.md#head-and-options. */
export function methodCases(subject: Subject): void {
  describe('docs/decisions.md#other-statuses: 405 with Allow', () => {
    it.each([
      ['DELETE', PETS_PATH],
      ['POST', PET_PATH],
    ] as const)('%s %s answers 405 with the supported methods in Allow', async (method, target) => {
      const response = await subject.client.send(method, target, { body: { name: 'Ada', categoryId: 1 } });
      expect(response).toBeError(405);
      expect(allowed(response)).toEqual(ALLOWED[target]);
    });
  });

  describe('docs/decisions.md#head-and-options: HEAD', () => {
    it.each([
      ['200 of a list', '/v1/pets?limit=1', {}],
      ['200 of an animal', '/v1/pets/$id', {}],
      ['401', '/v1/pets', { authorization: null }],
      ['404 of an animal', '/v1/pets/9007199254740991', {}],
    ])('HEAD answers as GET does, without a body: %s', async (_what, path, sending) => {
      const { client } = subject;
      const target = path.replace('$id', String((await client.create({})).id));
      const get = await client.get(target, sending);
      const head = await client.send('HEAD', target, sending);
      expect(head.status).toBe(get.status);
      expect(comparable(head)).toEqual(comparable(get));
      expect(head.header('content-length')).toBe(String(get.body.length));
    });
  });

  describe('docs/decisions.md#head-and-options: OPTIONS', () => {
    it.each([PETS_PATH, '/v1/pets?limit=0', '/v1/pets/x'])(
      'OPTIONS %s answers 204 with an invalid credential, query and petId',
      async (target) => {
        const response = await subject.client.send('OPTIONS', target, { authorization: 'Bearer unknown' });
        expect(response).toHaveStatus(204);
      },
    );

    it.each([PETS_PATH, PET_PATH] as const)(
      'OPTIONS %s answers 204 with Allow without a credential',
      async (target) => {
        const response = await subject.client.send('OPTIONS', target, { authorization: null });
        expect(response).toHaveStatus(204);
        expect(response.body).toHaveLength(0);
        expect(allowed(response)).toEqual(ALLOWED[target]);
      },
    );
  });

  describe('docs/decisions.md#precedence: the credential', () => {
    it.each(['/v1/%70ets', '/v1/%70%65%74%73?limit=1'])(
      'GET %s, an encoded path of listPets, needs the credential too',
      async (target) => {
        expect(await subject.client.get(target)).toHaveStatus(200);
        expect(await subject.client.get(target, { authorization: null })).toBeError(401);
      },
    );
  });
}

function allowed(response: ReceivedResponse): string[] {
  return (response.header('allow') ?? '').split(/\s*,\s*/).toSorted();
}

/** The headers that HEAD and GET must share: not those that differ per response, nor the framing (GET may be chunked). */
function comparable(response: ReceivedResponse): (readonly [string, string])[] {
  const perResponse = new Set(['date', 'x-request-id', 'content-length', 'transfer-encoding']);
  return response.headers.filter(([name]) => !perResponse.has(name)).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
