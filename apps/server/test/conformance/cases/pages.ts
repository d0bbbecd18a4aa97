import type { Animal } from '@petstore/core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Client, ReceivedResponse } from '../client.ts';
import { linkTarget } from '../link.ts';
import type { Subject } from '../subject.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** Declares the cases about lists: docs/interface.md#list-animals, docs/interface.md#limits, docs/decisions.md#further-pages. */
export function pageCases(subject: Subject): void {
  const animals: Animal[] = [];
  // 25 animals: 7 available, 6 pending, 6 sold, 6 without a status.
  const stocked = subject.own(async (client) => {
    for (let at = 0; at < 25; at += 1) {
      const status = STATUSES[at % 4];
      animals.push(await client.create({ name: `animal ${at}`, categoryId: at, ...(status && { status }) }));
    }
  });
  const empty = subject.own();

  describe('docs/interface.md#list-animals', () => {
    it('GET /pets answers 200 with an array of animals', async () => {
      const response = await stocked.client.get('/v1/pets?limit=100');
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual(animals);
    });

    it('GET /pets returns an empty array and no link if there are no animals', async () => {
      const received = await empty.client.get('/v1/pets');
      expect(received.json()).toEqual([]);
      expect(received.header('link')).toBeUndefined();
    });

    it.each(['available', 'pending', 'sold'])(
      'GET /pets?status=%s returns exactly the animals of that status',
      async (status) => {
        const expected = animals.filter((animal) => animal.status === status);
        expect(expected.length).toBeGreaterThan(0);
        expect(await stocked.client.list(`?status=${status}`)).toEqual(expected);
      },
    );

    it('GET /pets without a status returns the animals of every status and those without one', async () => {
      const all = await stocked.client.list('?limit=100');
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set(STATUSES));
    });

    it('GET /pets?limit=100 returns the largest possible page: 100 names of 1,000 escaped characters', async () => {
      const client = await subject.start();
      const large: Animal[] = [];
      for (let at = 0; at < 100; at += 1) large.push(await client.create({ name: '\u0001'.repeat(1_000) }));
      expect(await client.list('?limit=100')).toEqual(large);
    });

    it('GET /pets applies limit after the status filter', async () => {
      const sold = animals.filter(({ status }) => status === 'sold');
      expect(await stocked.client.list('?status=sold&limit=5')).toEqual(sold.slice(0, 5));
    });
  });

  describe('docs/interface.md#limits', () => {
    it('GET /pets without a limit returns 20 animals', async () => {
      expect(await stocked.client.list()).toEqual(animals.slice(0, 20));
    });

    it.each([1, 2, 19, 20, 24, 25, 26, 100])(
      'GET /pets?limit=%d returns at most that many animals',
      async (limit) => {
        expect(await stocked.client.list(`?limit=${limit}`)).toEqual(animals.slice(0, limit));
      },
    );

    it.each(['0', '101', '-1', '-100', '1000', '99999999999999999999', '9223372036854775808', '-0'])(
      'GET /pets?limit=%s answers 400: out of range, never clamped',
      async (limit) => {
        expect(await stocked.client.get(`/v1/pets?limit=${limit}`)).toBeError(400, 'limit');
      },
    );
  });

  describe('docs/decisions.md#further-pages', () => {
    it('GET /pets with a cursor returns only animals with a greater id', async () => {
      const { id = 0 } = animals[9] ?? {};
      expect(await stocked.client.list(`?cursor=${id}`)).toEqual(animals.slice(10));
      expect(await stocked.client.list(`?cursor=${id - 1}&limit=1`)).toEqual(animals.slice(9, 10));
    });

    it.each(['0', '-5', '-9007199254740991'])('GET /pets?cursor=%s returns all animals', async (cursor) => {
      expect(await stocked.client.list(`?cursor=${cursor}&limit=100`)).toEqual(animals);
    });

    it('GET /pets returns an empty array and no link after the last animal', async () => {
      for (const cursor of [animals.at(-1)?.id, Number.MAX_SAFE_INTEGER]) {
        const response = await stocked.client.get(`/v1/pets?cursor=${cursor}`);
        expect(response.json()).toEqual([]);
        expect(response.header('link')).toBeUndefined();
      }
    });

    it('GET /pets links from a full page to the next page', async () => {
      const response = await stocked.client.get('/v1/pets');
      const next = nextPage(response);
      expect(next.pathname).toBe('/v1/pets');
      expect(next.searchParams.get('cursor')).toBe(String(animals[19]?.id));
    });

    it.each([
      ['', 25],
      ['?limit=1', 25],
      ['?limit=4', 25],
      ['?limit=5', 25],
      ['?limit=24', 25],
      ['?status=available', 7],
      ['?status=sold&limit=1', 6],
      ['?limit=4&status=sold', 6],
      ['?status=pending&limit=5', 6],
    ])('the links from /v1/pets%s lead to each animal once, in order (%d animals)', async (query, count) => {
      const status = new URLSearchParams(query).get('status');
      const expected = animals.filter((animal) => status === null || animal.status === status);
      expect(expected).toHaveLength(count);
      const pages = await walk(stocked.client, `/v1/pets${query}`);
      expect(pages.flat()).toEqual(expected);
      const limit = Number(new URLSearchParams(query).get('limit') ?? 20);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    });

    it('the link to the next page keeps status and limit', async () => {
      const response = await stocked.client.get('/v1/pets?status=sold&limit=2');
      const next = nextPage(response);
      const secondSold = animals.filter(({ status }) => status === 'sold')[1];
      expect(Object.fromEntries(next.searchParams)).toEqual({
        status: 'sold',
        limit: '2',
        cursor: String(secondSold?.id),
      });
    });

    it('the link to the next page replaces the cursor', async () => {
      const response = await stocked.client.get(`/v1/pets?limit=3&cursor=${animals[2]?.id}`);
      const next = nextPage(response);
      expect(next.searchParams.getAll('cursor')).toEqual([String(animals[5]?.id)]);
    });

    it.each(['?limit=25', '?limit=26', '?limit=5&status=available&cursor=$2', '?status=sold&limit=6'])(
      'the last page has no link, even if it is full: %s',
      async (query) => {
        // $2 is replaced by the id of the second available animal, which five others follow.
        const second = animals.filter(({ status }) => status === 'available')[1];
        const response = await stocked.client.get(`/v1/pets${query.replace('$2', String(second?.id))}`);
        expect(response).toHaveStatus(200);
        expect(response.header('link')).toBeUndefined();
      },
    );

    it.each(['9007199254740992', '-9007199254740992', '9007199254740993', '99999999999999999999'])(
      'GET /pets?cursor=%s answers 400: not a safe integer',
      async (cursor) => {
        expect(await stocked.client.get(`/v1/pets?cursor=${cursor}`)).toBeError(400, 'cursor');
      },
    );
  });

  describe('docs/decisions.md#order', () => {
    it('GET /pets orders by ascending id, even if animals were created concurrently', async () => {
      const client = await subject.start();
      await Promise.all(Array.from({ length: 30 }, (_, at) => client.create({ categoryId: at })));
      const ids = (await client.list('?limit=100')).map(({ id }) => id);
      expect(ids).toHaveLength(30);
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    });
  });

  describe('docs/decisions.md#query-parameters', () => {
    let first: Animal[];
    beforeAll(() => {
      first = animals.slice(0, 3);
    });

    it.each([
      'color=red',
      'color=red&color=blue',
      'Limit=1',
      'limit[]=1',
      '__proto__=1',
      'constructor=1&toString=2',
      'color=%zz',
      'color',
      '=1',
      '&&',
      'id=1&name=animal',
    ])('GET /pets ignores unknown parameters: %s', async (query) => {
      expect(await stocked.client.list(`?limit=3&${query}`)).toEqual(first);
      expect(await stocked.client.list(`?${query}&limit=3`)).toEqual(first);
    });

    it('GET /pets accepts an empty query', async () => {
      expect(await stocked.client.list('?')).toEqual(animals.slice(0, 20));
    });

    it('GET /pets names every invalid parameter in a 400', async () => {
      const response = await stocked.client.get('/v1/pets?limit=0&status=lost&cursor=x');
      expect(response).toBeError(400, 'limit', 'status', 'cursor');
    });
  });
}

/** The URL of the link to the next page. */
function nextPage(response: ReceivedResponse): URL {
  return new URL(linkTarget(response.header('link'), 'next') ?? 'nowhere:', 'http://petstore.test/');
}

/** Follows the links from a target and returns the pages. */
async function walk(client: Client, from: string): Promise<Animal[][]> {
  const pages: Animal[][] = [];
  for (let target: string | undefined = from; target !== undefined;) {
    if (pages.length > 100) throw new Error('The links do not end.');
    const response = await client.get(target);
    pages.push(response.animals());
    target = linkTarget(response.header('link'), 'next');
  }
  return pages;
}
