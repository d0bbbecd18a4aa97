import { describe, expect, it } from 'vitest';
import type { SendOptions } from '../client.ts';
import type { Subject } from '../subject.ts';

const pet = { name: 'Ada', categoryId: 1 };
const maxBodySize = 1000;
const padded = (bytes: number) => JSON.stringify(pet).padEnd(bytes);

/** Declares the cases about errors: codes, statuses and their precedence. `toBeError` checks each body (docs/decisions.md#error-body). */
export function errorCases(subject: Subject): void {
  it.each([
    ['malformed JSON', '{"name":"Ada","categoryId":1'],
    ['empty', ''],
    ['an array', '[{"name":"Ada","categoryId":1}]'],
  ])('docs/decisions.md#error-body: POST /pets answers 400 to a body that is %s', async (_what, body) => {
    expect(await subject.client.post(body)).toBeError(400);
  });

  it('docs/decisions.md#other-statuses: POST /pets accepts 1,048,576 bytes and rejects 1,048,577 with 413', async () => {
    expect(await subject.client.post(padded(1_048_576))).toHaveStatus(201);
    expect(await subject.client.post(padded(1_048_577))).toBeError(413);
  });

  it('docs/decisions.md#precedence: the server checks credential, path, method, media type, size and input, and stores nothing until all are right', async () => {
    const client = await subject.start({ maxBodySize });
    // One request with every error, fixed one by one: each response shows the next check.
    const withKey: SendOptions = { contentType: 'text/plain', body: `{${'x'.repeat(maxBodySize)}` };
    const { contentType: _text, ...asJson } = withKey;
    const withoutKey = { ...withKey, authorization: null };
    expect(await client.send('PUT', '/v1/nothing?limit=x', withoutKey)).toBeError(401);
    expect(await client.send('PUT', '/v1/nothing?limit=x', withKey)).toBeError(404);
    expect(await client.send('PUT', '/v1/pets?limit=x', withKey)).toBeError(405);
    expect(await client.send('POST', '/v1/pets?limit=x', withKey)).toBeError(415);
    expect(await client.send('POST', '/v1/pets?limit=x', asJson)).toBeError(413);
    expect(await client.send('POST', '/v1/pets?limit=x', { body: '{' })).toBeError(400);
    expect(await client.list()).toEqual([]);
    expect(await client.send('POST', '/v1/pets?limit=x', { body: pet })).toHaveStatus(201);
  });

  describe('docs/decisions.md#not-served', () => {
    it.each(['/v1/store/orders', '/v1/orders', '/v1/categories', '/v1/categories/1', '/v1/events'])(
      'GET %s answers 404 and is not in the document',
      async (target) => {
        expect(await subject.client.get(target)).toBeError(404);
        expect(Object.keys(subject.client.document.paths)).not.toContain(target.slice('/v1'.length));
      },
    );
  });
}
