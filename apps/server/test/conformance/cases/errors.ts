import { describe, expect, it } from 'vitest';
import type { SendOptions } from '../client.ts';
import type { Subject } from '../subject.ts';

const pet = { name: 'Ada', categoryId: 1 };
const maxBodySize = 1000;
const padded = (bytes: number) => JSON.stringify(pet).padEnd(bytes);

/** Declares the cases about errors: codes, statuses and their precedence. `toBeError` checks each body (docs/decisions.md#error-body). */
export function errorCases(subject: Subject): void {
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
    it.each(['/pets', '/v2/pets', '/v1/animals', '/v1/store/orders', '/v1/categories', '/v1/events'])(
      'GET %s answers 404',
      async (target) => {
        expect(await subject.client.get(target)).toBeError(404);
      },
    );
  });
}
