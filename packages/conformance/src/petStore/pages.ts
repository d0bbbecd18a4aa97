import type { Animal } from '@petstore/core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../client.ts';
import { linkTarget } from '../link.ts';
import type { Subject } from './subject.ts';

const STATUSES = ['available', 'pending', 'sold', undefined] as const;

/** Lists: docs/interface.md#list-animals, docs/interface.md#limits, docs/decisions.md#further-pages. */
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
    it('answers 200 with a Pets array', async () => {
      const response = await stocked.client.get('/v1/pets?limit=100');
      expect(response).toHaveStatus(200);
      expect(response.json()).toEqual(animals);
    });

    it('answers an empty array where there are no animals', async () => {
      const received = await empty.client.get('/v1/pets');
      expect(received.json()).toEqual([]);
      expect(received.header('link')).toBeUndefined();
    });

    it.each(['available', 'pending', 'sold'])(
      'gives with status=%s the animals of that status and no others',
      async (status) => {
        const expected = animals.filter((animal) => animal.status === status);
        expect(expected.length).toBeGreaterThan(0);
        expect(await stocked.client.list(`?status=${status}`)).toEqual(expected);
      },
    );

    it('gives without status the animals of every status, and those without one', async () => {
      const all = await stocked.client.list('?limit=100');
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set(STATUSES));
    });

    it('gives the largest page that clients can make whole: 100 animals whose names are all escapes', async () => {
      const client = await subject.start();
      const large: Animal[] = [];
      for (let at = 0; at < 100; at += 1) large.push(await client.create({ name: '\u0001'.repeat(1_000) }));
      expect(await client.list('?limit=100')).toEqual(large);
    });

    it('counts the limit after the filter', async () => {
      const sold = animals.filter(({ status }) => status === 'sold');
      expect(await stocked.client.list('?status=sold&limit=5')).toEqual(sold.slice(0, 5));
    });
  });

  describe('docs/interface.md#limits', () => {
    it('gives 20 animals when limit is omitted', async () => {
      expect(await stocked.client.list()).toEqual(animals.slice(0, 20));
    });

    it.each([1, 2, 19, 20, 24, 25, 26, 100])('takes limit=%d', async (limit) => {
      expect(await stocked.client.list(`?limit=${limit}`)).toEqual(animals.slice(0, limit));
    });

    it.each(['0', '101', '-1', '-100', '1000', '99999999999999999999', '9223372036854775808', '-0'])(
      'refuses limit=%s: out of range, never clamped',
      async (limit) => {
        expect(await stocked.client.get(`/v1/pets?limit=${limit}`)).toBeError(400, 'limit');
      },
    );
  });

  describe('docs/decisions.md#further-pages', () => {
    it('gives with a cursor only animals whose id is greater', async () => {
      const { id = 0 } = animals[9] ?? {};
      expect(await stocked.client.list(`?cursor=${id}`)).toEqual(animals.slice(10));
      expect(await stocked.client.list(`?cursor=${id - 1}&limit=1`)).toEqual(animals.slice(9, 10));
    });

    it.each(['0', '-5', '-9007199254740991'])('gives all animals after cursor=%s', async (cursor) => {
      expect(await stocked.client.list(`?cursor=${cursor}&limit=100`)).toEqual(animals);
    });

    it('gives an empty array and no link after the last animal', async () => {
      for (const cursor of [animals.at(-1)?.id, Number.MAX_SAFE_INTEGER]) {
        const response = await stocked.client.get(`/v1/pets?cursor=${cursor}`);
        expect(response.json()).toEqual([]);
        expect(response.header('link')).toBeUndefined();
      }
    });

    it('links from a full page that has a successor to the next one', async () => {
      const response = await stocked.client.get('/v1/pets');
      const next = new URL(
        linkTarget(response.header('link'), 'next') ?? 'nowhere:',
        'http://petstore.test/',
      );
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
    ])('reaches every animal once, in order, by the links from /v1/pets%s', async (query, count) => {
      const status = new URLSearchParams(query).get('status');
      const expected = animals.filter((animal) => status === null || animal.status === status);
      expect(expected).toHaveLength(count);
      const pages = await walk(stocked.client, `/v1/pets${query}`);
      expect(pages.flat()).toEqual(expected);
      const limit = Number(new URLSearchParams(query).get('limit') ?? 20);
      expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    });

    it('keeps all other filters in the link', async () => {
      const response = await stocked.client.get('/v1/pets?status=sold&limit=2');
      const next = new URL(
        linkTarget(response.header('link'), 'next') ?? 'nowhere:',
        'http://petstore.test/',
      );
      const second = animals.filter(({ status }) => status === 'sold')[1];
      expect(Object.fromEntries(next.searchParams)).toEqual({
        status: 'sold',
        limit: '2',
        cursor: String(second?.id),
      });
    });

    it('replaces the cursor in the link: it is there once', async () => {
      const response = await stocked.client.get(`/v1/pets?limit=3&cursor=${animals[2]?.id}`);
      const next = new URL(
        linkTarget(response.header('link'), 'next') ?? 'nowhere:',
        'http://petstore.test/',
      );
      expect(next.searchParams.getAll('cursor')).toEqual([String(animals[5]?.id)]);
    });

    it.each(['?limit=25', '?limit=26', '?limit=5&status=available&cursor=$2', '?status=sold&limit=6'])(
      'has no link on the last page, a full one included: %s',
      async (query) => {
        // $2 stands for the id of the second available animal: five follow it.
        const second = animals.filter(({ status }) => status === 'available')[1];
        const response = await stocked.client.get(`/v1/pets${query.replace('$2', String(second?.id))}`);
        expect(response).toHaveStatus(200);
        expect(response.header('link')).toBeUndefined();
      },
    );

    it.each(['9007199254740992', '-9007199254740992', '9007199254740993', '99999999999999999999'])(
      'refuses cursor=%s: it is no id that JSON carries exactly',
      async (cursor) => {
        expect(await stocked.client.get(`/v1/pets?cursor=${cursor}`)).toBeError(400, 'cursor');
      },
    );
  });

  describe('docs/decisions.md#order', () => {
    it('is ascending id, also when animals were created at the same time', async () => {
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
    ])('ignores what it does not know: %s', async (query) => {
      expect(await stocked.client.list(`?limit=3&${query}`)).toEqual(first);
      expect(await stocked.client.list(`?${query}&limit=3`)).toEqual(first);
    });

    it('takes an empty query', async () => {
      expect(await stocked.client.list('?')).toEqual(animals.slice(0, 20));
    });

    it.each([
      ['limit', 'limit=3&limit=3'],
      ['limit', 'limit=3&status=sold&limit=4'],
      ['limit', 'limit=3&l%69mit=3'],
      ['status', 'status=sold&status=sold'],
      ['cursor', 'cursor=0&cursor=1'],
    ])('refuses %s given twice: %s', async (field, query) => {
      expect(await stocked.client.get(`/v1/pets?${query}`)).toBeError(400, field);
    });

    it.each(['l%69mit=3', 'limit=%33', '%6C%69%6D%69%74=3'])(
      'decodes names and values: %s',
      async (query) => {
        expect(await stocked.client.list(`?${query}`)).toEqual(first);
      },
    );

    it('names every offending parameter', async () => {
      const response = await stocked.client.get('/v1/pets?limit=0&status=lost&cursor=x');
      expect(response).toBeError(400, 'limit', 'status', 'cursor');
    });

    it.each(['limit', 'status', 'cursor'])('refuses a malformed escape in %s', async (field) => {
      expect(await stocked.client.get(`/v1/pets?${field}=%zz`)).toBeError(400, field);
      expect(await stocked.client.get(`/v1/pets?${field}=%ff`)).toBeError(400, field);
    });
  });
}

/** The pages from a target on, each found by the link of the one before. */
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
