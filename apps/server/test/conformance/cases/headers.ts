import { describe, expect, it } from 'vitest';
import type { ReceivedResponse } from '../client.ts';
import { linkTarget, parseLinks } from '../link.ts';
import type { Subject } from '../subject.ts';

const PET = { name: 'Ada', categoryId: 1 };
const PUBLIC_URL = 'https://api.petstore.test/shop';

/** Declares the cases about response headers: docs/decisions.md#http-behaviour-of-the-pet-store. */
export function headerCases(subject: Subject): void {
  describe('docs/decisions.md#201', () => {
    it('POST /pets answers 201 with the path of the animal in Location', async () => {
      const { client } = subject;
      const response = await client.post(PET);
      const animal = response.animal();
      expect(response.header('location')).toBe(`/v1/pets/${animal.id}`);
      expect((await client.get(response.header('location') ?? '')).json()).toEqual(animal);
    });

    it('only a 201 has a Location header', async () => {
      expect((await subject.client.post({})).header('location')).toBeUndefined();
      expect((await subject.client.get('/v1/pets?limit=1')).header('location')).toBeUndefined();
    });
  });

  describe('docs/interface.md#versioning and docs/decisions.md#deprecated-getpet', () => {
    it.each([
      ['200', '/v1/pets/$id', 'GET'],
      ['404 of an animal', '/v1/pets/9007199254740991', 'GET'],
      ['200 to HEAD', '/v1/pets/$id', 'HEAD'],
    ])('getPet sends Deprecation, Sunset and Link with %s', async (_what, path, method) => {
      const { client } = subject;
      const { id } = await client.create({});
      const received = await client.send(method, path.replace('$id', String(id)));
      expect(received.header('deprecation')).toBe('@1795132800');
      expect(received.header('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
      expect(parseLinks(received.header('link'))).toEqual([
        { target: '/v1/pets', parameters: { rel: 'successor-version' } },
        { target: '/docs', parameters: { rel: 'deprecation', type: 'text/html' } },
      ]);
    });

    it.each<readonly [string, (subject: Subject) => Promise<ReceivedResponse>]>([
      ['400 of getPet', ({ client }) => client.get('/v1/pets/x')],
      ['401 of getPet', ({ client }) => client.get('/v1/pets/1', { authorization: null })],
      ['200 of listPets', ({ client }) => client.get('/v1/pets?limit=1')],
    ])('the server sends no Deprecation, Sunset or successor-version with %s', async (_what, request) => {
      const response = await request(subject);
      expect(response.header('deprecation')).toBeUndefined();
      expect(response.header('sunset')).toBeUndefined();
      expect(linkTarget(response.header('link'), 'successor-version')).toBeUndefined();
    });
  });

  describe('docs/decisions.md#configuration: PUBLIC_URL', () => {
    const proxied = subject.own(
      async (client) => {
        await client.create({});
        await client.create({});
      },
      { publicUrl: PUBLIC_URL },
    );

    it('publicUrl is the prefix of the link to the next page', async () => {
      const response = await proxied.client.get('/v1/pets?limit=1');
      const { id } = response.animals()[0] ?? {};
      const next = new URL(linkTarget(response.header('link'), 'next') ?? 'nowhere:');
      expect(next.origin + next.pathname).toBe(`${PUBLIC_URL}/v1/pets`);
      expect(Object.fromEntries(next.searchParams)).toEqual({ limit: '1', cursor: String(id) });
    });
  });

  // The client checks in every case that the response has one.
  it.each(['/v1/pets', '/v1/nothing', '/nothing'])(
    'GET %s sends a valid X-Request-Id back',
    async (target) => {
      const response = await subject.client.get(target, { headers: [['X-Request-Id', 'mine-1']] });
      expect(response.header('x-request-id')).toBe('mine-1');
    },
  );

  describe('docs/decisions.md#names: /healthz, /readyz', () => {
    it.each(['/healthz', '/readyz'])('GET and HEAD %s answer 200 without a credential', async (target) => {
      const response = await subject.client.get(target, { authorization: null });
      expect(response).toHaveStatus(200);
      expect(response.header('content-type')).toMatch(/^application\/json(;|$)/);
      expect(await subject.client.send('HEAD', target, { authorization: null })).toHaveStatus(200);
    });
  });
}
