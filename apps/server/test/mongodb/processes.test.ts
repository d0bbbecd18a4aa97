import type { Animal } from '@petstore/core';
import { longForm } from '@petstore/testing/forms';
import { mongodbUri } from '@petstore/testing/mongodb';
import { describe, expect, test, vi } from 'vitest';
import { newDatabase } from '../testing/newDatabase.ts';
import { ready } from '../testing/petStoreProcess.ts';
import { createPet } from '../testing/petCalls.ts';

const creates = longForm ? 20_000 : 4_000;
const atOnce = 64;

const anyOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

describe.skipIf(mongodbUri === undefined)('four server processes on one database', () => {
  test(`four processes serve ${creates} concurrent creates and walks through all pages`, async ({
    annotate,
  }) => {
    const { serve } = await newDatabase();
    const servers = await Promise.all(Array.from({ length: 4 }, () => serve()));
    await Promise.all(servers.map((server) => ready(server)));
    const origins = servers.map(({ origin }) => origin);
    /** Returns the stderr of processes that have printed something. */
    const shown = () => servers.map(({ stderr }) => stderr()).filter((text) => text !== '');
    await vi.waitFor(() => expect(shown()).toHaveLength(1));
    const [key = ''] = /psk_[\w-]{43}/.exec(shown().join('')) ?? [];
    const headers = { authorization: `Bearer ${key}` };

    const get = async <T>(origin: string, path: string): Promise<T> => {
      const response = await fetch(`${origin}/v1/pets${path}`, { headers });
      expect(response.status).toBe(200);
      return (await response.json()) as T;
    };

    const acknowledged: Animal[] = [];
    const create = async (number: number) => {
      const status = anyOf(['available', 'pending', 'sold', undefined]);
      const animal = { name: `animal ${number}`, categoryId: number, status };
      const received = await createPet(anyOf(origins), animal, { key });
      expect(received.status).toBe(201);
      acknowledged.push((await received.json()) as Animal);
    };

    /** Lists all pages from random servers, and returns missing and duplicate animals. */
    const walk = async () => {
      const before = acknowledged.slice();
      const listedById = new Map<number, Animal>();
      let twice = 0;
      const compared: (readonly [listed: Animal, got: Animal])[] = [];
      for (let cursor = 0, full = true; full;) {
        const page = await get<Animal[]>(anyOf(origins), `?limit=100&cursor=${cursor}`);
        for (const animal of page) {
          if (listedById.has(animal.id)) twice += 1;
          listedById.set(animal.id, animal);
        }
        cursor = page.at(-1)?.id ?? cursor;
        full = page.length === 100;
        if (page.length > 0) {
          const animal = anyOf(page);
          compared.push([animal, await get<Animal>(anyOf(origins), `/${animal.id}`)]);
        }
      }
      expect(compared.map(([, got]) => got)).toEqual(compared.map(([listed]) => listed));
      const missing = before.filter((animal) => listedById.get(animal.id)?.name !== animal.name);
      return { missing, twice, compared: compared.length, listed: listedById.size };
    };

    let next = 0;
    const worker = async () => {
      for (let number = next++; number < creates; number = next++) await create(number);
    };
    const since = performance.now();
    const created = new AbortController();
    const workers = Promise.all(Array.from({ length: atOnce }, worker)).finally(() => created.abort());
    const walks: Awaited<ReturnType<typeof walk>>[] = [];
    const walker = async () => {
      while (!created.signal.aborted) walks.push(await walk());
    };
    await Promise.all([workers, walker(), walker(), walker()]);
    const seconds = (performance.now() - since) / 1_000;
    const last = await walk();

    await annotate(
      `${acknowledged.length} creates in ${seconds.toFixed(1)} s, ${walks.length} walks meanwhile, ` +
        `${walks.reduce((sum, { compared }) => sum + compared, 0)} animals compared`,
    );
    expect(walks.length).toBeGreaterThanOrEqual(3);
    expect([...walks, last].filter(({ missing, twice }) => missing.length > 0 || twice > 0)).toEqual([]);
    expect(acknowledged).toHaveLength(creates);
    expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(creates);
    expect(last.listed).toBe(creates);
    // Exactly one process created the first key.
    expect(shown()).toHaveLength(1);
  }, 600_000);
});
