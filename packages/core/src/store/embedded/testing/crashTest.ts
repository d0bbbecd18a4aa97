/*
 * Kills a process that creates animals with SIGKILL at random moments, and checks each time that nothing it acknowledged
 * was lost. As a command: `node --conditions=@petstore/source crashTest.ts [rounds]`, from this folder. It shows that
 * LMDB's file is right after a crash of the process; a power cut also needs a disk that keeps what it has flushed.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Animal, animals, PetStatus } from '../../../procedures/animals.ts';
import type { Store } from '../../store.ts';
import { openEmbeddedStore } from '../index.ts';
import { startStoreProcess } from './startStoreProcess.ts';

export interface CrashReport {
  readonly rounds: number;
  /** How many animals were acknowledged, over all rounds. */
  readonly acknowledged: number;
  /** How many were found that nobody had heard of: written, but killed before the acknowledgement came out. */
  readonly unheard: number;
  /** What must not be, each in a sentence. */
  readonly faults: readonly string[];
}

/** @param onRound called after each round, for progress */
export async function crashTest(rounds: number, onRound?: (done: number) => void): Promise<CrashReport> {
  const dataDir = await mkdtemp(join(tmpdir(), 'petstore-crash-'));
  const acknowledged = new Map<number, Animal>();
  const faults: string[] = [];
  let found = 0;
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const animal of await createUntilKilled(dataDir)) {
        if (acknowledged.has(animal.id)) faults.push(`round ${round}: id ${animal.id} was given twice`);
        acknowledged.set(animal.id, animal);
      }
      const store = await openEmbeddedStore({ dataDir });
      found = await check(store, acknowledged, (fault) => faults.push(`round ${round}: ${fault}`));
      await store.close();
      onRound?.(round);
    }
  } finally {
    await rm(dataDir, { recursive: true });
  }
  return { rounds, acknowledged: acknowledged.size, unheard: found - acknowledged.size, faults };
}

/** What a process acknowledged before it was killed. */
async function createUntilKilled(dataDir: string): Promise<Animal[]> {
  const writer = startStoreProcess(['createForEver', dataDir]);
  const first = await writer.next();
  await delay(Math.random() * 60);
  writer.child.kill('SIGKILL');
  const { results } = await writer.rest();
  return [first, ...results].map((result) => Animal.parse(result));
}

/** Compares what is stored with what was acknowledged. @returns how many animals are stored */
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
  const { acknowledged, unheard, faults, rounds } = await crashTest(
    Number(process.argv[2] ?? 100),
    (done) => {
      process.stderr.write(`\r${done} rounds`);
    },
  );
  process.stdout.write(
    `\n${rounds} rounds, ${acknowledged} animals acknowledged, ${unheard} more were stored, ${faults.length} faults\n${faults.join('\n')}`,
  );
  process.exitCode = faults.length === 0 ? 0 : 1;
}
