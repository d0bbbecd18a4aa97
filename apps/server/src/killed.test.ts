import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
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

  const keys = 1000;
  const repeats = 10;

  /**
   * Asks for 1,000 animals, each ten times at once and again until it is answered, while the process is killed and
   * started again and again.
   */
  async function createUnderKills({ serve }: Folder, withKey: boolean) {
    const port = await freePort();
    const env = { API_KEY: apiKey, PORT: String(port) };
    const origin = `http://127.0.0.1:${port}`;
    let server = await serve({ env });
    let kills = 0;
    const done = new AbortController();

    const ask = async (key: number): Promise<number> => {
      const sent = withKey ? { ...headers, 'idempotency-key': `key-${key}` } : headers;
      const body = JSON.stringify({ name: `animal ${key}`, categoryId: 1 });
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
    const ids: number[][] = Array.from({ length: keys }, () => []);
    let next = 0;
    const worker = async () => {
      for (let key = next++; key < keys; key = next++) {
        ids[key] = await Promise.all(Array.from({ length: repeats }, () => ask(key)));
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    done.abort();
    await killing;
    return { ids, kills, animals: await listAll(origin) };
  }

  test('creates exactly 1,000 animals of 1,000 idempotency keys with 10 repeats each', async ({
    annotate,
  }) => {
    const { ids, kills, animals } = await createUnderKills(await newFolder(), true);
    await annotate(`${kills} kills`);
    expect(kills).toBeGreaterThan(2);
    expect(animals).toHaveLength(keys);
    expect(ids.filter((answers) => new Set(answers).size !== 1)).toEqual([]);
    expect(new Set(ids.flat()).size).toBe(keys);
  }, 180_000);

  test('creates more than 1,000 of the same calls without their keys', async ({ annotate }) => {
    const { animals } = await createUnderKills(await newFolder(), false);
    await annotate(`${animals.length} animals`);
    expect(animals.length).toBeGreaterThan(keys);
  }, 180_000);
});
