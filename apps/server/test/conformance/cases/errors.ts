import { describe, expect, it } from 'vitest';
import type { SendOptions } from '../client.ts';
import type { Subject } from '../subject.ts';

const PET = { name: 'Ada', categoryId: 1 };
const MAX_BODY_BYTES = 1000;
const TOO_LARGE = JSON.stringify({ ...PET, name: 'x'.repeat(MAX_BODY_BYTES) });

const padded = (bytes: number) => JSON.stringify(PET).padEnd(bytes);

/** Declares the cases about errors (docs/decisions.md#error-body): codes, bodies, statuses and their precedence. */
export function errorCases(subject: Subject): void {
  const small = subject.own(undefined, { maxBodySize: MAX_BODY_BYTES });

  describe('docs/decisions.md#code-values', () => {
    it.each<readonly [400 | 401 | 404 | 405 | 413 | 415, string, string, string, SendOptions]>([
      [400, 'invalid input', 'POST', '/v1/pets', { body: {} }],
      [400, 'malformed JSON', 'POST', '/v1/pets', { body: '{' }],
      [400, 'a query that cannot be converted', 'GET', '/v1/pets?limit=x', {}],
      [401, 'a missing credential', 'GET', '/v1/pets', { authorization: null }],
      [401, 'an invalid credential', 'GET', '/v1/pets', { authorization: 'Bearer unknown' }],
      [404, 'an unknown animal', 'GET', '/v1/pets/9007199254740991', {}],
      [404, 'an unknown path', 'GET', '/v1/animals', {}],
      [405, 'a method that the path does not support', 'DELETE', '/v1/pets', {}],
      [413, 'a body that is too large', 'POST', '/v1/pets', { body: TOO_LARGE }],
      [415, 'a body of another media type', 'POST', '/v1/pets', { body: '<pet/>', contentType: 'text/xml' }],
    ])(
      'the server answers %d with the matching tRPC code to %s: %s %s',
      async (status, _what, method, target, sending) => {
        expect(await small.client.send(method, target, sending)).toBeError(status);
      },
    );
  });

  describe('docs/decisions.md#error-body', () => {
    // toBeError checks in every case that the body is exactly code, message and status, without a stack or a path.
    it('POST /pets names each invalid field of the body in a readable message', async () => {
      const response = await subject.client.post({ categoryId: '5', status: 'lost' });
      expect(response).toBeError(400, 'name', 'categoryId', 'status');
      const { message } = response.error();
      expect(message).toMatch(/ /);
      expect(message).not.toMatch(/[[{]"|"code"|ZodError|invalid_type|\\n|\n/);
    });

    it.each([
      ['malformed JSON', '{"name":"Ada","categoryId":1'],
      ['empty', ''],
      ['an array', '[{"name":"Ada","categoryId":1}]'],
    ])('POST /pets answers 400 to a body that is %s', async (_what, body) => {
      expect(await subject.client.post(body)).toBeError(400);
    });
  });

  describe('docs/decisions.md#other-statuses', () => {
    it('POST /pets accepts 1,048,576 bytes by default and rejects 1,048,577 with 413', async () => {
      expect(await subject.client.post(padded(1_048_576))).toHaveStatus(201);
      expect(await subject.client.post(padded(1_048_577))).toBeError(413);
    });
  });

  describe('docs/decisions.md#precedence', () => {
    // One request with every error, fixed one by one: each response shows the next check.
    const invalidRequest: SendOptions = {
      authorization: null,
      contentType: 'text/plain',
      body: `{${'x'.repeat(MAX_BODY_BYTES)}`,
    };

    it('the server checks credential, path, method, media type, size and input, in this order', async () => {
      const { client } = small;
      const { authorization: _none, ...withKey } = invalidRequest;
      const { contentType: _text, ...asJson } = withKey;
      expect(await client.send('PUT', '/v1/nothing?limit=x', invalidRequest)).toBeError(401);
      expect(await client.send('PUT', '/v1/nothing?limit=x', withKey)).toBeError(404);
      expect(await client.send('PUT', '/v1/pets?limit=x', withKey)).toBeError(405);
      expect(await client.send('POST', '/v1/pets?limit=x', withKey)).toBeError(415);
      expect(await client.send('POST', '/v1/pets?limit=x', asJson)).toBeError(413);
      expect(await client.send('POST', '/v1/pets?limit=x', { body: '{' })).toBeError(400);
      expect(await client.send('POST', '/v1/pets?limit=x', { body: PET })).toHaveStatus(201);
    });
  });

  describe('docs/decisions.md#not-served', () => {
    it.each([
      '/v1/store/orders',
      '/v1/store',
      '/v1/orders',
      '/v1/categories',
      '/v1/categories/1',
      '/v1/events',
    ])('GET %s answers 404 and is not in the document', async (target) => {
      expect(await subject.client.get(target)).toBeError(404);
      expect(Object.keys(subject.client.document.paths)).not.toContain(target.slice('/v1'.length));
    });
  });
}
