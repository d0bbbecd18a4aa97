import { expect, it } from 'vitest';
import type { SendOptions } from 'trpc-gateway-test';
import { animalOf, type Subject } from '../subject.ts';

const deprecation = {
  deprecation: '@1795132800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
};
const none = { deprecation: undefined, sunset: undefined, link: undefined };

/**
 * Declares the cases about what all operations have: credentials, errors, headers and the document. `toBeError` checks each
 * body (docs/decisions.md#error-body). All forms of `Authorization` are the gateway's: packages/gateway/test/credentials.
 */
export function interfaceCases(subject: Subject): void {
  it('docs/interface.md#authentication and docs/decisions.md#401: a 401 has a challenge that says what is wrong', async () => {
    const { client } = subject;
    for (const [authorization, challenge] of [
      [null, /^Bearer realm="petstore"$/],
      ['Bearer psk_wrong', /^Bearer realm="petstore", .*error="invalid_token"(,|$)/],
      [`Bearer ${client.apiKey}0`, /error="invalid_token"/],
    ] as const) {
      const response = await client.get('/v1/pets', { authorization });
      expect(response).toBeError(401);
      expect(response.header('www-authenticate')).toMatch(challenge);
    }
  });

  it('docs/decisions.md#precedence and #other-statuses: the server checks credential, path, method, media type, size and input, and stores nothing until all are right', async () => {
    const client = await subject.start();
    // One request with every error, fixed one by one: each response shows the next check.
    const body = JSON.stringify({ name: 'Ada', categoryId: 1 }).padEnd(1_048_576);
    const withKey: SendOptions = { contentType: 'text/plain', body: `{${body}` };
    const { contentType: _text, ...asJson } = withKey;
    const withoutKey = { ...withKey, authorization: null };
    expect(await client.send('PUT', '/v1/nothing?limit=x', withoutKey)).toBeError(401);
    expect(await client.send('PUT', '/v1/nothing?limit=x', withKey)).toBeError(404);
    expect(await client.send('PUT', '/v1/pets?limit=x', withKey)).toBeError(405);
    expect(await client.send('POST', '/v1/pets?limit=x', withKey)).toBeError(415);
    expect(await client.send('POST', '/v1/pets?limit=x', asJson)).toBeError(413);
    expect(await client.send('POST', '/v1/pets?limit=x', { body: '{' })).toBeError(400);
    expect(await client.list()).toEqual([]);
    expect(await client.send('POST', '/v1/pets?limit=x', { body })).toHaveStatus(201);
  });

  it('docs/decisions.md#not-served: paths of other versions and other resources answer 404', async () => {
    for (const target of ['/pets', '/v2/pets', '/v1/animals', '/v1/store/orders', '/v1/categories'])
      expect(await subject.client.get(target)).toBeError(404);
  });

  it('docs/decisions.md#201: only a 201 has a Location, the path of the animal', async () => {
    const { client } = subject;
    const response = await client.post({ name: 'Ada', categoryId: 1 });
    expect(response.header('location')).toBe(`/v1/pets/${animalOf(response).id}`);
    expect((await client.post({})).header('location')).toBeUndefined();
    expect((await client.get('/v1/pets?limit=1')).header('location')).toBeUndefined();
  });

  it.each([
    ['GET', '/v1/pets/$id', 200, deprecation],
    ['HEAD', '/v1/pets/$id', 200, deprecation],
    ['GET', '/v1/pets/9007199254740991', 404, deprecation],
    ['GET', '/v1/pets/x', 400, none],
  ] as const)(
    'docs/interface.md#versioning and docs/decisions.md#deprecated-getpet: %s %s answers %d with Deprecation, Sunset and Link %j',
    async (method, path, status, expected) => {
      const { client } = subject;
      const { id } = await client.create({});
      const received = await client.send(method, path.replace('$id', String(id)));
      expect(received).toHaveStatus(status);
      const [sent, sunset] = [received.header('deprecation'), received.header('sunset')];
      expect({ deprecation: sent, sunset, link: received.header('link') }).toEqual(expected);
    },
  );

  // The client checks every response of every case against it. It is that of the command `openapi`, from which @petstore/types is made.
  it('GET /openapi.json needs no credential', async () => {
    const received = await subject.client.get('/openapi.json', { authorization: null });
    expect(received.header('content-type')).toMatch(/^application\/json(;|$)/);
  });
}
