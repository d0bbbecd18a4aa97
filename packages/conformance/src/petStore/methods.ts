import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../client.ts';
import type { Subject } from './subject.ts';

const PETS_PATH = '/v1/pets';
const PET_PATH = '/v1/pets/1';
const ALLOWED = {
  [PETS_PATH]: ['GET', 'HEAD', 'OPTIONS', 'POST'],
  [PET_PATH]: ['GET', 'HEAD', 'OPTIONS'],
};

/** Declares the cases about methods and paths: docs/decisions.md#other-statuses, docs/decisions.md#head-and-options. */
export function methodCases(subject: Subject): void {
  describe('docs/decisions.md#other-statuses: 405 with Allow', () => {
    it.for([
      ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND', 'BREW'].map(
        (method) => [method, PETS_PATH] as const,
      ),
      ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'BREW'].map(
        (method) => [method, PET_PATH] as const,
      ),
    ])('%s %s answers 405 with the supported methods in Allow', async ([method, target], { skip }) => {
      skip(subject.unknownMethods.includes(method), 'The HTTP server itself rejects this method.');
      const response = await subject.client.send(method, target);
      expect(response).toBeError(405);
      expect(allowed(response)).toEqual(ALLOWED[target]);
    });

    it('PUT /pets with a body answers 405, and the connection stays usable', async () => {
      const received = await subject.client.send('PUT', PETS_PATH, { body: { name: 'Ada', categoryId: 1 } });
      expect(received).toBeError(405);
      expect(await subject.client.get('/v1/pets?limit=1')).toHaveStatus(200);
    });

    it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
      'DELETE /pets ignores %s and answers 405',
      async (name) => {
        const response = await subject.client.send('DELETE', PETS_PATH, { headers: [[name, 'GET']] });
        expect(response).toBeError(405);
      },
    );
  });

  describe('docs/decisions.md#head-and-options: HEAD', () => {
    it.each([
      ['200 of a list', '/v1/pets?limit=1', {}],
      ['200 of an animal', '/v1/pets/$id', {}],
      ['400', '/v1/pets?limit=0', {}],
      ['401', '/v1/pets', { authorization: null }],
      ['404 of an animal', '/v1/pets/9007199254740991', {}],
      ['404 of a path', '/v1/nothing', {}],
      ['404 outside /v1', '/nothing', {}],
      ['200 of the document', '/openapi.json', {}],
    ])('HEAD answers as GET does, without a body: %s', async (_what, path, sending) => {
      const { client } = subject;
      const target = path.replace('$id', String((await client.create({})).id));
      const get = await client.get(target, sending);
      const head = await client.send('HEAD', target, sending);
      expect(head.status).toBe(get.status);
      expect(comparable(head)).toEqual(comparable(get));
      expect(head.header('content-length')).toBe(String(get.body.length));
    });

    it('HEAD /pets sends no bytes after the headers', async () => {
      const { client } = subject;
      const request = `HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.apiKey}\r\nConnection: close\r\n\r\n`;
      expect(await client.sendRaw(request)).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
    });
  });

  describe('docs/decisions.md#head-and-options: OPTIONS', () => {
    it.each([PETS_PATH, PET_PATH] as const)(
      'OPTIONS %s answers 204 with Allow without a credential',
      async (target) => {
        const response = await subject.client.send('OPTIONS', target, { authorization: null });
        expect(response).toHaveStatus(204);
        expect(response.body).toHaveLength(0);
        expect(allowed(response)).toEqual(ALLOWED[target]);
      },
    );

    it('OPTIONS /pets answers 204 with a valid or an invalid credential', async () => {
      for (const authorization of [`Bearer ${subject.client.apiKey}`, 'Bearer unknown']) {
        expect(await subject.client.send('OPTIONS', PETS_PATH, { authorization })).toHaveStatus(204);
      }
    });

    it('OPTIONS ignores an invalid query and an invalid petId', async () => {
      expect(await subject.client.send('OPTIONS', '/v1/pets?limit=0', { authorization: null })).toHaveStatus(
        204,
      );
      expect(await subject.client.send('OPTIONS', '/v1/pets/x', { authorization: null })).toHaveStatus(204);
    });

    it('OPTIONS answers 404 to an unknown path', async () => {
      expect(await subject.client.send('OPTIONS', '/v1/nothing', { authorization: null })).toBeError(404);
    });
  });

  describe('docs/decisions.md#other-statuses: 404 unknown path (RFC 3986 §6.2.2)', () => {
    it.each([
      ['a slash at the end', '/v1/pets/'],
      ['a slash at the end', '/v1/pets/1/'],
      ['an empty segment', '/v1//pets'],
      ['an empty segment', '//v1/pets'],
      ['other letter case', '/v1/Pets'],
      ['other letter case', '/V1/pets'],
      ['an encoded slash, which separates no segments', '/v1/pets%2F1'],
      ['an encoded slash, which separates no segments', '/v1%2Fpets'],
      ['an encoded question mark, which starts no query', '/v1/pets%3Flimit=1'],
      ['a double encoding, which is decoded once', '/v1/%2570ets'],
      ['a malformed escape', '/v1/%zz'],
      ['a malformed escape', '/v1/pets%'],
      ['bytes that are not UTF-8', '/v1/%ff'],
      ['U+0000', '/v1/pets%00'],
      ['a matrix parameter', '/v1/pets;limit=1'],
    ])('GET answers 404 to a path with %s: %s', async (_what, target) => {
      expect(await subject.client.get(target)).toBeError(404);
    });

    it.each(['/v1/%70ets', '/v1/p%65%74s', '/v1/%70%65%74%73'])(
      'GET %s is routed as /v1/pets: percent-encoded letters are decoded',
      async (target) => {
        expect(await subject.client.get(target)).toHaveStatus(200);
        expect(await subject.client.get(target, { authorization: null })).toBeError(401);
      },
    );

    it.each([
      '/%76%31/pets',
      '/%761/pets',
      '/v%31/pets',
      '//v1/pets',
      '/v1//pets',
      '/./v1/pets',
      '/x/../v1/pets',
    ])('GET %s without a credential answers 401 or 404', async (target) => {
      const response = await subject.client.get(target, { authorization: null });
      expect([401, 404]).toContain(response.status);
    });
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
