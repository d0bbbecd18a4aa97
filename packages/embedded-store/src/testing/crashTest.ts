/*
 * Kills a process that creates animals with SIGKILL at random times, and checks each time that no acknowledged animal is
 * lost. Run it with `node --conditions=trpc-gateway-source crashTest.ts [rounds]` in this folder. It tests crashes of the
 * process. After a power cut, durability also depends on a disk that keeps flushed data.
 */
import { countArgument } from '@petstore/testing/countArgument';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { collections, Animal, animals, PetStatus } from '@petstore/core';
import type { Store } from '@petstore/core/store';
import { openEmbeddedStore } from '../index.ts';
import { startStoreProcess } from './startStoreProcess.ts';

export interface CrashReport {
  readonly rounds: number;
  /** Number of acknowledged animals in all rounds. */
  readonly acknowledged: number;
  /** Number of animals that were stored but not acknowledged before the process was killed. */
  readonly unacknowledged: number;
  /** Violations, each as a sentence. */
  readonly violations: readonly string[];
}

/** Runs the rounds. @param onRound called after each round */
export async function crashTest(rounds: number, onRound?: (done: number) => void): Promise<CrashReport> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-crash-'));
  const acknowledged = new Map<number, Animal>();
  const violations: string[] = [];
  let storedCount = 0;
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const animal of await createUntilKilled(dataDir)) {
        if (acknowledged.has(animal.id)) violations.push(`round ${round}: id ${animal.id} was given twice`);
        acknowledged.set(animal.id, animal);
      }
      const store = await openEmbeddedStore({ dataDir, collections });
      storedCount = await check(store, acknowledged, (fault) => violations.push(`round ${round}: ${fault}`));
      await store.close();
      onRound?.(round);
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
  return {
    rounds,
    acknowledged: acknowledged.size,
    unacknowledged: storedCount - acknowledged.size,
    violations,
  };
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

/** Compares the stored animals with the acknowledged ones. @returns the number of stored animals */
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
  return all.length;
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

if (process.argv[1] === import.meta.filename) {
  const { acknowledged, unacknowledged, violations, rounds } = await crashTest(
    countArgument('rounds', process.argv[2], 100),
    (done) => {
      process.stderr.write(`\r${done} rounds`);
    },
  );
  process.stdout.write(
    `\n${rounds} rounds, ${acknowledged} animals acknowledged, ${unacknowledged} more were stored, ${violations.length} faults\n${violations.join('\n')}`,
  );
  process.exitCode = violations.length === 0 ? 0 : 1;
}
