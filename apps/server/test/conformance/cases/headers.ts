import { describe, expect, it } from 'vitest';
import { nextPage, type Subject } from '../subject.ts';

const publicUrl = 'https://api.petstore.test/shop';
const deprecation = {
  deprecation: '@1795132800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</v1/pets>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
};
const none = { deprecation: undefined, sunset: undefined, link: undefined };

/** Declares the cases about response headers: docs/decisions.md#http-behaviour-of-the-pet-store. */
export function headerCases(subject: Subject): void {
  it('docs/decisions.md#201: only a 201 has a Location, the path of the animal', async () => {
    const { client } = subject;
    const response = await client.post({ name: 'Ada', categoryId: 1 });
    const animal = response.animal();
    expect(response.header('location')).toBe(`/v1/pets/${animal.id}`);
    expect((await client.post({})).header('location')).toBeUndefined();
    expect((await client.get('/v1/pets?limit=1')).header('location')).toBeUndefined();
  });

  describe('docs/interface.md#versioning and docs/decisions.md#deprecated-getpet', () => {
    it.each([
      ['GET', '/v1/pets/$id', 200, deprecation],
      ['HEAD', '/v1/pets/$id', 200, deprecation],
      ['GET', '/v1/pets/9007199254740991', 404, deprecation],
      ['GET', '/v1/pets/x', 400, none],
    ] as const)(
      '%s %s answers %d with Deprecation, Sunset and Link %j',
      async (method, path, status, expected) => {
        const { client } = subject;
        const { id } = await client.create({});
        const received = await client.send(method, path.replace('$id', String(id)));
        expect(received).toHaveStatus(status);
        const [sent, sunset] = [received.header('deprecation'), received.header('sunset')];
        expect({ deprecation: sent, sunset, link: received.header('link') }).toEqual(expected);
      },
    );
  });

  it('docs/decisions.md#configuration: PUBLIC_URL is the prefix of the link to the next page', async () => {
    const client = await subject.start({ publicUrl });
    const { id } = await client.create({});
    await client.create({});
    const next = nextPage(await client.get('/v1/pets?limit=1'));
    expect(next?.href).toBe(`${publicUrl}/v1/pets?limit=1&cursor=${id}`);
  });
}
