import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../client.ts';
import type { Subject } from './subject.ts';

const LIST = '/v1/pets';
const ONE = '/v1/pets/1';
const ALLOWED = {
  [LIST]: ['GET', 'HEAD', 'OPTIONS', 'POST'],
  [ONE]: ['GET', 'HEAD', 'OPTIONS'],
};

/** Methods and paths: docs/decisions.md#other-statuses and docs/decisions.md#head-and-options. */
export function methodCases(subject: Subject): void {
  describe('docs/decisions.md#other-statuses: 405 with Allow', () => {
    it.for([
      ...['PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'PROPFIND', 'BREW'].map(
        (method) => [method, LIST] as const,
      ),
      ...['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY', 'BREW'].map((method) => [method, ONE] as const),
    ])('answers %s %s with the methods that there are', async ([method, target], { skip }) => {
      skip(subject.unknownMethods.includes(method), 'The HTTP server itself rejects this method.');
      const response = await subject.client.send(method, target);
      expect(response).toBeError(405);
      expect(allowed(response)).toEqual(ALLOWED[target]);
    });

    it('holds for methods that carry a body', async () => {
      const received = await subject.client.send('PUT', LIST, { body: { name: 'Ada', categoryId: 1 } });
      expect(received).toBeError(405);
      expect(await subject.client.get('/v1/pets?limit=1')).toHaveStatus(200);
    });

    it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'])(
      'takes no notice of %s',
      async (name) => {
        const response = await subject.client.send('DELETE', LIST, { headers: [[name, 'GET']] });
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
    ])('mirrors GET without a body: %s', async (_what, path, sending) => {
      const { client } = subject;
      const target = path.replace('$id', String((await client.create({})).id));
      const got = await client.get(target, sending);
      const head = await client.send('HEAD', target, sending);
      expect(head.status).toBe(got.status);
      expect(comparable(head)).toEqual(comparable(got));
      expect(head.header('content-length')).toBe(String(got.body.length));
    });

    it('sends nothing after the headers', async () => {
      const { client } = subject;
      const request = `HEAD /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.apiKey}\r\nConnection: close\r\n\r\n`;
      expect(await client.sendRaw(request)).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\n$/);
    });
  });

  describe('docs/decisions.md#head-and-options: OPTIONS', () => {
    it.each([LIST, ONE] as const)('answers 204 with Allow for %s, without a credential', async (target) => {
      const response = await subject.client.send('OPTIONS', target, { authorization: null });
      expect(response).toHaveStatus(204);
      expect(response.body).toHaveLength(0);
      expect(allowed(response)).toEqual(ALLOWED[target]);
    });

    it('answers the same with a credential, a bad one included', async () => {
      for (const authorization of [`Bearer ${subject.client.apiKey}`, 'Bearer nobody']) {
        expect(await subject.client.send('OPTIONS', LIST, { authorization })).toHaveStatus(204);
      }
    });

    it('looks at no input', async () => {
      expect(await subject.client.send('OPTIONS', '/v1/pets?limit=0', { authorization: null })).toHaveStatus(
        204,
      );
      expect(await subject.client.send('OPTIONS', '/v1/pets/x', { authorization: null })).toHaveStatus(204);
    });

    it('answers 404 for a path that is not there', async () => {
      expect(await subject.client.send('OPTIONS', '/v1/nothing', { authorization: null })).toBeError(404);
    });
  });

  describe('docs/decisions.md#other-statuses: 404 unknown path (RFC 3986 §6.2.2)', () => {
    it.each([
      ['a slash at the end', '/v1/pets/'],
      ['a slash at the end', '/v1/pets/1/'],
      ['an empty segment', '/v1//pets'],
      ['an empty segment', '//v1/pets'],
      ['another case', '/v1/Pets'],
      ['another case', '/V1/pets'],
      ['an encoded slash, which is none', '/v1/pets%2F1'],
      ['an encoded slash, which is none', '/v1%2Fpets'],
      ['an encoded question mark, which is none', '/v1/pets%3Flimit=1'],
      ['a double encoding, which is decoded once', '/v1/%2570ets'],
      ['a malformed escape', '/v1/%zz'],
      ['a malformed escape', '/v1/pets%'],
      ['bytes that are not UTF-8', '/v1/%ff'],
      ['U+0000', '/v1/pets%00'],
      ['a matrix parameter', '/v1/pets;limit=1'],
    ])('is not /v1/pets with %s: %s', async (_what, target) => {
      expect(await subject.client.get(target)).toBeError(404);
    });

    it.each(['/v1/%70ets', '/v1/p%65%74s', '/v1/%70%65%74%73'])(
      'is /v1/pets with letters encoded: %s',
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
    ])('never leads round the credential: %s', async (target) => {
      const response = await subject.client.get(target, { authorization: null });
      expect([401, 404]).toContain(response.status);
    });
  });
}

function allowed(response: ReceivedResponse): string[] {
  return (response.header('allow') ?? '').split(/\s*,\s*/).toSorted();
}

/** Headers that are not about this one answer, `Content-Length` apart: GET may be sent in chunks. */
function comparable(response: ReceivedResponse): (readonly [string, string])[] {
  const ofThisAnswer = new Set(['date', 'x-request-id', 'content-length', 'transfer-encoding']);
  return response.headers
    .filter(([name]) => !ofThisAnswer.has(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
