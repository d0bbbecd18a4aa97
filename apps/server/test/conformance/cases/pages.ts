import type { Animal } from '@petstore/core';
import { describe, expect, it } from 'vitest';
import { animalsOf, nextPage, type Client, type Subject } from '../subject.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/**
 * Declares the cases about lists: docs/interface.md#list-animals, docs/interface.md#limits,
 * docs/interface.md#petstatus, docs/decisions.md#further-pages.
 */
export function pageCases(subject: Subject): void {
  const animals: Animal[] = [];
  // 25 animals: 7 available, 6 pending, 6 sold, 6 without a status.
  const stocked = subject.own(async (client) => {
    for (let at = 0; at < 25; at += 1) {
      const status = STATUSES[at % 4];
      animals.push(await client.create({ name: `animal ${at}`, categoryId: at, ...(status && { status }) }));
    }
  });
  const of = (status: string | null) =>
    animals.filter((animal) => status === null || animal.status === status);

  describe('docs/interface.md#list-animals', () => {
    it('GET /pets returns an empty array and no link if there are no animals, or none is left', async () => {
      const empty = await (await subject.start()).get('/v1/pets');
      const last = await stocked.client.get(`/v1/pets?cursor=${Number.MAX_SAFE_INTEGER}`);
      for (const response of [empty, last]) {
        expect([response.json(), response.header('link')]).toEqual([[], undefined]);
      }
    });

    it.each(['available', 'pending', 'sold'])(
      'GET /pets?status=%s returns exactly the animals of that status',
      async (status) => {
        expect(await stocked.client.list(`?status=${status}`)).toEqual(of(status));
        expect(await stocked.client.list(`?status=${status}&limit=5`)).toEqual(of(status).slice(0, 5));
      },
    );
  });

  describe('docs/interface.md#limits', () => {
    it.each([undefined, 1, 25, 100])(
      'GET /pets with the limit %s returns at most that many animals, by default 20',
      async (limit) => {
        const query = limit === undefined ? '' : `?limit=${limit}`;
        expect(await stocked.client.list(query)).toEqual(animals.slice(0, limit ?? 20));
      },
    );
  });

  describe('docs/decisions.md#further-pages', () => {
    it('GET /pets with a cursor returns only animals with a greater id', async () => {
      const { id = 0 } = animals[9] ?? {};
      expect(await stocked.client.list(`?cursor=${id}`)).toEqual(animals.slice(10));
      expect(await stocked.client.list('?cursor=-9007199254740991&limit=100')).toEqual(animals);
    });

    it.each([
      ['', 25],
      ['?limit=5', 25],
      ['?limit=24', 25],
      ['?limit=4&status=sold', 6],
      ['?status=pending&limit=6', 6],
    ])('the links from /v1/pets%s lead to each animal once, in order (%d animals)', async (query, count) => {
      const parameters = new URLSearchParams(query);
      const expected = of(parameters.get('status'));
      expect(expected).toHaveLength(count);
      const pages = await walk(stocked.client, `/v1/pets${query}`);
      expect(pages.flat()).toEqual(expected);
      const limit = Number(parameters.get('limit') ?? 20);
      // The last page has no link, even if it is full.
      expect(pages).toHaveLength(Math.ceil(count / limit));
    });

    it('the link to the next page keeps status and limit, and replaces the cursor', async () => {
      const [first, second, third] = of('sold');
      const response = await stocked.client.get(`/v1/pets?status=sold&limit=2&cursor=${first?.id}`);
      expect(animalsOf(response)).toEqual([second, third]);
      const { pathname, searchParams } = nextPage(response) ?? {};
      const cursor = String(third?.id);
      expect(pathname).toBe('/v1/pets');
      expect(Object.fromEntries(searchParams ?? [])).toEqual({ cursor, limit: '2', status: 'sold' });
    });
  });

  it('docs/decisions.md#order: and docs/interface.md#animal-pet: GET /pets orders by ascending id, and animals that were created concurrently have different ids', async () => {
    const client = await subject.start();
    await Promise.all(Array.from({ length: 30 }, (_, at) => client.create({ categoryId: at })));
    const ids = (await client.list('?limit=100')).map(({ id }) => id);
    expect([new Set(ids).size, ids]).toEqual([30, ids.toSorted((a, b) => a - b)]);
  });

  describe('docs/decisions.md#query-parameters', () => {
    it.each(['color=red&color=blue', 'Limit=1', 'color=%zz'])(
      'GET /pets ignores unknown parameters: %s',
      async (query) => {
        expect(await stocked.client.list(`?${query}&limit=3`)).toEqual(animals.slice(0, 3));
      },
    );

    it.each([
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=5.0', 'limit'],
      ['cursor=9007199254740992', 'cursor'],
      ['cursor=%205', 'cursor'],
      ['status=AVAILABLE', 'status'],
      ['status=sold,pending', 'status'],
      ['limit=0&status=lost&cursor=x', 'limit', 'status', 'cursor'],
    ])('GET /pets?%s answers 400, which names each invalid parameter', async (query, ...names) => {
      expect(await stocked.client.get(`/v1/pets?${query}`)).toBeError(400, ...names);
    });
  });
}

/** Follows the links from a target and returns the pages. */
async function walk(client: Client, from: string): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let target: string | undefined = from; target !== undefined;) {
    if (pages.length > 100) throw new Error('The links do not end.');
    const response = await client.get(target);
    pages.push(animalsOf(response));
    const next = nextPage(response);
    target = next && next.pathname + next.search;
  }
  return pages;
}
