import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { everyForm } from '@petstore/testing/forms';
import { freePort } from '@petstore/testing/freePort';
import { describe, expect, test } from 'vitest';
import { apiKey, newFolder, type Folder } from './testing/newFolder.ts';

const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

/** Every animal that the server has, page by page. */
async function listAll(origin: string): Promise<Animal[]> {
  const all: Animal[] = [];
  for (let page: Animal[] | undefined; page === undefined || page.length > 0;) {
    const cursor = all.at(-1)?.id ?? 0;
    const response = await fetch(`${origin}/v1/pets?limit=100&cursor=${cursor}`, { headers });
    page = (await response.json()) as Animal[];
    all.push(...page);
  }
  return all;
}

/** Between the two, both included. */
const randomFrom = (least: number, most: number) => least + Math.floor(Math.random() * (most - least + 1));

/** Calls `kill` when so many further answers have come, again and again: never while a process starts. */
function killer(kill: () => Promise<void>, [least, most]: readonly [least: number, most: number]) {
  let left = randomFrom(least, most);
  let kills = 0;
  let killing = Promise.resolve();
  let isKilling = false;
  return {
    answered: () => {
      left -= 1;
      if (left > 0 || isKilling) return;
      isKilling = true;
      kills += 1;
      killing = kill().then(() => {
        left = randomFrom(least, most);
        isKilling = false;
      });
    },
    kills: () => kills,
    /** Resolves when the process that was started last serves. */
    settled: () => killing,
  };
}

// Rounds are counted in answers, not in time: a busy machine takes longer and tests the same.
describe('a process that is killed with kill -9', { timeout: 240_000 }, () => {
  test('has lost no animal that it acknowledged, and gives no id again: 6 rounds during a stream of creates', async ({
    annotate,
  }) => {
    const { serve } = await newFolder();
    const env = { API_KEY: apiKey };
    const acknowledged: Animal[] = [];
    for (let round = 0; round < 6; round += 1) {
      const server = await serve({ env });
      const until = acknowledged.length + randomFrom(20, 120);
      const create = async (name: string) => {
        const body = JSON.stringify({ name, categoryId: round });
        const received = await fetch(`${server.origin}/v1/pets`, { method: 'POST', headers, body });
        acknowledged.push((await received.json()) as Animal);
        if (acknowledged.length === until) server.child.kill('SIGKILL');
      };
      const stream = async (worker: number) => {
        for (let count = 0; ; count += 1) await create(`${round} ${worker} ${count}`);
      };
      await Promise.allSettled(Array.from({ length: 8 }, (_, worker) => stream(worker)));
      await server.exited;
    }
    const { origin } = await serve({ env });
    const kept = new Map((await listAll(origin)).map((animal) => [animal.id, animal]));
    await annotate(`${acknowledged.length} animals acknowledged`);
    expect(acknowledged.length).toBeGreaterThanOrEqual(120);
    expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length);
    expect(acknowledged.filter((animal) => kept.get(animal.id)?.name !== animal.name)).toEqual([]);
  });

  /** A server on one port that is killed and started again, and a create that is sent until it is answered. */
  async function serverUnderKills({ serve }: Folder, responses: readonly [least: number, most: number]) {
    const port = await freePort();
    const env = { API_KEY: apiKey, PORT: String(port) };
    const origin = `http://127.0.0.1:${port}`;
    let server = await serve({ env });
    const { answered, kills, settled } = killer(async () => {
      server.child.kill('SIGKILL');
      await server.exited;
      server = await serve({ env });
    }, responses);

    const create = async (name: number, idempotencyKey?: string): Promise<number> => {
      const sent = idempotencyKey === undefined ? headers : { ...headers, 'idempotency-key': idempotencyKey };
      const body = JSON.stringify({ name: `animal ${name}`, categoryId: 1 });
      for (;;) {
        try {
          const response = await fetch(`${origin}/v1/pets`, { method: 'POST', headers: sent, body });
          if (response.status === 201) {
            const { id } = (await response.json()) as Animal;
            answered();
            return id;
          }
        } catch {
          // The process is away: whether the call was carried out is unknown, so it is sent again.
        }
        await sleep(20);
      }
    };
    return { origin, create, kills, settled };
  }

  const names = everyForm ? 200 : 60;
  test(`creates exactly ${names} animals of ${names} idempotency keys with 5 repeats each`, async ({
    annotate,
  }) => {
    const between = everyForm ? ([50, 150] as const) : ([30, 50] as const);
    const { origin, create, kills, settled } = await serverUnderKills(await newFolder(), between);
    const ids: number[][] = Array.from({ length: names }, () => []);
    let next = 0;
    const worker = async () => {
      for (let name = next++; name < names; name = next++) {
        ids[name] = await Promise.all(Array.from({ length: 5 }, () => create(name, `key-${name}`)));
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    await settled();
    await annotate(`${kills()} kills`);
    expect(kills()).toBeGreaterThan(2);
    expect(await listAll(origin)).toHaveLength(names);
    expect(ids.filter((responses) => new Set(responses).size !== 1)).toEqual([]);
    expect(new Set(ids.flat()).size).toBe(names);
  });

  // What the keys are for: a call whose answer was lost to a kill may have been carried out.
  test('creates more animals than were asked for without keys, though each is asked for once', async ({
    annotate,
  }) => {
    // Of many that are on their way: others share the commit of those that are answered.
    const { origin, create, kills, settled } = await serverUnderKills(await newFolder(), [10, 30]);
    let created = 0;
    let animals: Animal[] = [];
    while (animals.length <= created) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => create(created + index)));
      created += 100;
      await settled();
      animals = await listAll(origin);
    }
    expect(animals.length).toBeGreaterThan(created);
    await annotate(`${animals.length - created} too many of ${created}, ${kills()} kills`);
  });
});
