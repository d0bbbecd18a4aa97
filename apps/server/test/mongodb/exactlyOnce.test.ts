import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { mongodbUri, startFaultProxy } from '@petstore/testing/mongodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCuttingBalancer } from '../testing/cuttingBalancer.ts';
import { longForm } from '@petstore/testing/forms';
import { newDatabase } from '../testing/newDatabase.ts';
import { apiKey } from '../testing/newFolder.ts';
import { listening, type PetStoreProcess, ready, type RunningServer } from '../testing/petStoreProcess.ts';

const pausingServer = fileURLToPath(new URL('../testing/pausingServer.ts', import.meta.url));
const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

/** Percentage of dropped responses: to clients, and of the database to inserts of animals. */
const cutPercent = { clients: 40, database: 5 };

/** The BSON bytes of `{ insert: 'animals' }`: the name, the length of the string, the string. */
const insertOfAnimal = 'insert\0\u0008\0\0\0animals\0';

/** Number of animals to create, repeats of each create, and concurrency. */
const load = { names: longForm ? 1_000 : 120, repeats: 10, atOnce: 20 };

/** Lists every animal, page by page. */
async function listAll({ origin }: RunningServer): Promise<Animal[]> {
  const all: Animal[] = [];
  for (let page: Animal[] | undefined; page === undefined || page.length > 0;) {
    const cursor = all.at(-1)?.id ?? 0;
    const response = await fetch(`${origin}/v1/pets?limit=100&cursor=${cursor}`, { headers });
    expect(response.status).toBe(200);
    page = (await response.json()) as Animal[];
    all.push(...page);
  }
  return all;
}

/** Keeps three servers running and repeatedly kills each: when it pauses, or else after 3 to 6 s. */
function keepThree(start: () => PetStoreProcess) {
  const running = new Map<number, RunningServer>();
  const kills = { paused: 0, other: 0 };
  const done = new AbortController();
  const untilDone = new Promise<'done'>((resolve) => {
    done.signal.addEventListener('abort', () => resolve('done'));
  });

  async function keepOne(slot: number): Promise<void> {
    while (!done.signal.aborted) {
      const server = await listening(start());
      await ready(server);
      running.set(slot, server);
      const paused = untilPaused(server);
      const why = await Promise.race([
        paused,
        sleep(3_000 + Math.random() * 3_000, 'other' as const),
        untilDone,
      ]);
      if (why === 'done') return;
      running.delete(slot);
      server.child.kill('SIGKILL');
      await server.exited;
      kills[why] += 1;
    }
  }

  const keeping = Promise.all([0, 1, 2].map((slot) => keepOne(slot)));
  return {
    kills,
    origins: () => [...running.values()].map(({ origin }) => origin),
    async stop() {
      done.abort();
      await keeping;
    },
  };
}

const untilPaused = ({ child, stdout }: RunningServer) =>
  new Promise<'paused'>((resolve) => {
    const look = () => {
      if (stdout().includes('"msg":"paused"')) resolve('paused');
    };
    look();
    child.stdout?.on('data', look);
  });

/**
 * Creates animals while responses of servers and database are dropped and servers are killed. Each create is retried until
 * it gets a 201.
 */
async function createUnderFaults() {
  const { serve, start, uri } = await newDatabase();
  const proxy = await startFaultProxy(uri);
  onTestFinished(() => proxy.close());
  const direct = await serve({ env: { API_KEY: apiKey } });
  await ready(direct);
  proxy.set({ kind: 'cutResponses', percent: cutPercent.database, only: insertOfAnimal });
  const env = { MONGODB_URI: proxy.uri, API_KEY: apiKey, LOG_REQUESTS: 'none' };
  const three = keepThree(() => start({ entry: pausingServer, env }));
  const balancer = await startCuttingBalancer(three.origins, cutPercent.clients);
  onTestFinished(() => balancer.close());

  const statuses: Record<string, number> = {};
  const send = async (name: number): Promise<number> => {
    const sent = { ...headers, 'idempotency-key': `key-${name}` };
    const body = JSON.stringify({ name: `animal ${name}`, categoryId: 1 });
    for (;;) {
      let status = 'no response';
      try {
        const received = await fetch(`${balancer.origin}/v1/pets`, { method: 'POST', headers: sent, body });
        status = String(received.status);
        if (received.status === 201) return ((await received.json()) as Animal).id;
        await received.body?.cancel();
      } catch {
        // The outcome of the call is unknown, so it is retried.
      } finally {
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
      await sleep(20);
    }
  };

  const ids: number[][] = Array.from({ length: load.names }, () => []);
  let next = 0;
  const worker = async () => {
    for (let name = next++; name < load.names; name = next++) {
      ids[name] = await Promise.all(Array.from({ length: load.repeats }, () => send(name)));
    }
  };
  await Promise.all(Array.from({ length: load.atOnce }, worker));
  await three.stop();
  const { kills } = three;
  return {
    ids,
    kills,
    cut: balancer.cut,
    cutFromDatabase: proxy.cuts,
    statuses,
    animals: await listAll(direct),
  };
}

describe.skipIf(mongodbUri === undefined)('creates on MongoDB with lost responses and killed servers', () => {
  test(`${load.names} idempotency keys with ${load.repeats} repeats each create exactly ${load.names} animals`, async ({
    annotate,
  }) => {
    const { ids, kills, cut, cutFromDatabase, statuses, animals } = await createUnderFaults();
    await annotate(
      `${cut.created} responses dropped after the animal was stored, ${cut.replayed} of repeats, ${cut.other} others; ` +
        `${cutFromDatabase} responses of the database dropped; ${kills.paused} kills between reservation and write, ` +
        `${kills.other} others; statuses: ${JSON.stringify(statuses)}`,
    );
    expect(animals).toHaveLength(load.names);
    expect(ids.filter((responses) => new Set(responses).size !== 1)).toEqual([]);
    expect(new Set(ids.flat()).size).toBe(load.names);
    expect(cut.created).toBeGreaterThanOrEqual(load.names / 8);
    expect(kills.paused).toBeGreaterThanOrEqual(5);
    expect(cutFromDatabase).toBeGreaterThan(0);
    // Under these faults no other responses are allowed.
    expect(
      Object.keys(statuses).filter((status) => !['201', '503', '504', 'no response'].includes(status)),
    ).toEqual([]);
  }, 600_000);
});
