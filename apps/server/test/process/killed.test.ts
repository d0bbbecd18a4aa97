import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { longForm } from '@petstore/testing/forms';
import { freePort } from '@petstore/testing/freePort';
import { describe, expect, test } from 'vitest';
import { apiKey, newFolder, type Folder } from '../testing/newFolder.ts';
import { createPet } from '../testing/petCalls.ts';

const headers = { authorization: `Bearer ${apiKey}` };

/** Lists every animal of the server, page by page. */
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

/** Returns a random integer from `least` to `most`, inclusive. */
const randomFrom = (least: number, most: number) => least + Math.floor(Math.random() * (most - least + 1));

/** Calls `kill` after every `least` to `most` responses, but never while a process is starting. */
function killer(kill: () => Promise<void>, [least, most]: readonly [least: number, most: number]) {
  let left = randomFrom(least, most);
  let kills = 0;
  let killing = Promise.resolve();
  let isKilling = false;
  return {
    onResponse: () => {
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
    /** Resolves when the most recently started process serves. */
    settled: () => killing,
  };
}

// Rounds are counted in responses, not in time: a busy machine takes longer and tests the same.
describe('a process that is killed with kill -9', { timeout: 240_000 }, () => {
  /** Starts a server that is repeatedly killed and restarted on one port. `create` retries until it gets a 201. */
  async function serverUnderKills({ serve }: Folder, responses: readonly [least: number, most: number]) {
    const port = await freePort();
    const env = { API_KEY: apiKey, PORT: String(port) };
    const origin = `http://127.0.0.1:${port}`;
    let server = await serve({ env });
    const { onResponse, kills, settled } = killer(async () => {
      server.child.kill('SIGKILL');
      await server.exited;
      server = await serve({ env });
    }, responses);

    const create = async (name: number): Promise<number> => {
      const animal = { name: `animal ${name}`, categoryId: 1 };
      const options = { headers: { 'idempotency-key': `key-${name}` } };
      for (;;) {
        try {
          const response = await createPet(origin, animal, options);
          if (response.status === 201) {
            const { id } = (await response.json()) as Animal;
            onResponse();
            return id;
          }
        } catch {
          // The process was killed. The outcome of the call is unknown, so it is retried.
        }
        await sleep(20);
      }
    };
    return { origin, create, kills, settled };
  }

  const names = longForm ? 200 : 60;
  test(`kill -9 during creates with ${names} idempotency keys and 5 repeats each creates exactly ${names} animals`, async ({
    annotate,
  }) => {
    const between = longForm ? ([50, 150] as const) : ([30, 50] as const);
    const { origin, create, kills, settled } = await serverUnderKills(await newFolder(), between);
    const ids: number[][] = Array.from({ length: names }, () => []);
    let next = 0;
    const worker = async () => {
      for (let name = next++; name < names; name = next++) {
        ids[name] = await Promise.all(Array.from({ length: 5 }, () => create(name)));
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
});
