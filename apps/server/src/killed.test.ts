import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { freePort } from '@petstore/testing/freePort';
import { describe, expect, test } from 'vitest';
import { apiKey, newFolder, type Folder } from './testing/newFolder.ts';
import type { RunningServer } from './testing/petStoreProcess.ts';

const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

/** Every animal that the server has, page by page. */
async function listAll(origin: string): Promise<Animal[]> {
  const all: Animal[] = [];
  for (let page: Animal[] | undefined; page === undefined || page.length > 0;) {
    const cursor = all.at(-1)?.id ?? 0;
    const answer = await fetch(`${origin}/v1/pets?limit=100&cursor=${cursor}`, { headers });
    page = (await answer.json()) as Animal[];
    all.push(...page);
  }
  return all;
}

const kill = async (server: RunningServer) => {
  server.child.kill('SIGKILL');
  await server.exited;
};

describe('a process that is killed with kill -9', () => {
  test('has lost no animal that it acknowledged, and gives no id again: 20 rounds during a stream of creates', async ({
    annotate,
  }) => {
    const { serve } = await newFolder();
    const env = { API_KEY: apiKey };
    const acknowledged: Animal[] = [];
    for (let round = 0; round < 20; round += 1) {
      const server = await serve({ env });
      const create = async (name: string) => {
        const body = JSON.stringify({ name, categoryId: round });
        const answer = await fetch(`${server.origin}/v1/pets`, { method: 'POST', headers, body });
        acknowledged.push((await answer.json()) as Animal);
      };
      const stream = async (worker: number) => {
        for (let count = 0; ; count += 1) await create(`${round} ${worker} ${count}`);
      };
      const streams = Promise.allSettled(Array.from({ length: 8 }, (_, worker) => stream(worker)));
      await sleep(50 + Math.random() * 250);
      await kill(server);
      await streams;
    }
    const { origin } = await serve({ env });
    const kept = new Map((await listAll(origin)).map((animal) => [animal.id, animal]));
    await annotate(`${acknowledged.length} animals acknowledged`);
    expect(acknowledged.length).toBeGreaterThan(200);
    expect(new Set(acknowledged.map(({ id }) => id)).size).toBe(acknowledged.length);
    expect(acknowledged.filter((animal) => kept.get(animal.id)?.name !== animal.name)).toEqual([]);
  }, 120_000);

  interface Load {
    /** How many animals are asked for. */
    readonly names: number;
    /** How often each is asked for, all at once. */
    readonly repeats: number;
    /** How many of the names are on their way at once. */
    readonly atOnce: number;
    readonly withKey: boolean;
  }

  /** Asks for animals, and again where no answer came, while the process is killed and started again and again. */
  async function createUnderKills({ serve }: Folder, { names, repeats, atOnce, withKey }: Load) {
    const port = await freePort();
    const env = { API_KEY: apiKey, PORT: String(port) };
    const origin = `http://127.0.0.1:${port}`;
    let server = await serve({ env });
    let kills = 0;
    const done = new AbortController();

    const ask = async (name: number): Promise<number> => {
      const sent = withKey ? { ...headers, 'idempotency-key': `key-${name}` } : headers;
      const body = JSON.stringify({ name: `animal ${name}`, categoryId: 1 });
      for (;;) {
        try {
          const answer = await fetch(`${origin}/v1/pets`, { method: 'POST', headers: sent, body });
          if (answer.status === 201) return ((await answer.json()) as Animal).id;
        } catch {
          // The process is away: what became of the call nobody knows, so it is sent again.
        }
        await sleep(20);
      }
    };
    const killer = async () => {
      while (!done.signal.aborted) {
        await sleep(100 + Math.random() * 200);
        await kill(server);
        kills += 1;
        server = await serve({ env });
      }
    };

    const killing = killer();
    const ids: number[][] = Array.from({ length: names }, () => []);
    let next = 0;
    const worker = async () => {
      for (let name = next++; name < names; name = next++) {
        ids[name] = await Promise.all(Array.from({ length: repeats }, () => ask(name)));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    done.abort();
    await killing;
    return { ids, kills, animals: await listAll(origin) };
  }

  test('creates exactly 1,000 animals of 1,000 idempotency keys with 10 repeats each', async ({
    annotate,
  }) => {
    const names = 1000;
    const load = { names, repeats: 10, atOnce: 20, withKey: true };
    const { ids, kills, animals } = await createUnderKills(await newFolder(), load);
    await annotate(`${kills} kills`);
    expect(kills).toBeGreaterThan(2);
    expect(animals).toHaveLength(names);
    expect(ids.filter((answers) => new Set(answers).size !== 1)).toEqual([]);
    expect(new Set(ids.flat()).size).toBe(names);
  }, 180_000);

  // What the keys are for: a call whose answer was lost to a kill may have been carried out.
  test('creates more animals than were asked for without keys, though each is asked for once', async ({
    annotate,
  }) => {
    const names = 10_000;
    const load = { names, repeats: 1, atOnce: 200, withKey: false };
    const { ids, kills, animals } = await createUnderKills(await newFolder(), load);
    await annotate(`${animals.length - names} too many, ${kills} kills`);
    expect(new Set(ids.flat()).size).toBe(names);
    expect(animals.length).toBeGreaterThan(names);
  }, 180_000);
});
