import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { collections, Animal, animals, PetStatus } from '@petstore/core';
import type { Store } from '@petstore/core/store';
import { expect, test } from 'vitest';
import { openEmbeddedStore } from './index.ts';
import { startStoreProcess } from './testing/startStoreProcess.ts';

/**
 * Kills a process that creates animals with SIGKILL at random times, and checks each time that no acknowledged animal is
 * lost. After a power cut, durability also depends on a disk that keeps flushed data.
 */
async function crashRounds(rounds: number) {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-crash-'));
  const acknowledged = new Map<number, Animal>();
  const violations: string[] = [];
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const animal of await createUntilKilled(dataDir)) {
        if (acknowledged.has(animal.id)) violations.push(`round ${round}: id ${animal.id} was given twice`);
        acknowledged.set(animal.id, animal);
      }
      const store = await openEmbeddedStore({ dataDir, collections });
      await check(store, acknowledged, (fault) => violations.push(`round ${round}: ${fault}`));
      await store.close();
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
  return { acknowledged: acknowledged.size, violations };
}

/** Creates animals in a process until it is killed. @returns the animals that it acknowledged */
async function createUntilKilled(dataDir: string): Promise<Animal[]> {
  const writer = startStoreProcess(['createForEver', dataDir]);
  const first = await writer.next();
  await delay(Math.random() * 60);
  writer.child.kill('SIGKILL');
  const { results } = await writer.rest();
  return [first, ...results].map((result) => Animal.parse(result));
}

/** Compares the stored animals with the acknowledged ones. */
async function check(store: Store, acknowledged: Map<number, Animal>, fault: (text: string) => void) {
  for (const [id, animal] of acknowledged) {
    const stored = await store.collection(animals).get(id);
    if (!isDeepStrictEqual(stored, animal))
      fault(`animal ${id} was ${JSON.stringify(animal)}, is ${JSON.stringify(stored)}`);
  }
  const all = await listAll(store);
  for (const status of PetStatus.options) {
    const listed = await listAll(store, status);
    if (
      !isDeepStrictEqual(
        listed,
        all.filter((animal) => animal.status === status),
      )
    ) {
      fault(`the index of ${status} and the animals disagree`);
    }
  }
}

async function listAll(store: Store, status?: PetStatus): Promise<Animal[]> {
  const all: Animal[] = [];
  for (;;) {
    const query = { limit: 100, where: { status }, cursor: all.at(-1)?.id };
    const { records, hasNext } = await store.collection(animals).list(query);
    all.push(...records);
    if (!hasNext) return all;
  }
}

test(
  'every acknowledged animal is stored unchanged after SIGKILL in 20 rounds',
  { timeout: 60_000 },
  async () => {
    const { acknowledged, violations } = await crashRounds(20);
    expect(violations).toEqual([]);
    expect(acknowledged).toBeGreaterThan(20);
  },
);
