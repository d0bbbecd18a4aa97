import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { countArgument } from '@petstore/testing/countArgument';
import { eventually } from '@petstore/testing/eventually';
import { startFaultProxy } from '@petstore/testing/mongodb';
import { type Long, MongoClient } from 'mongodb';
import { startCreates } from './databaseCreates.ts';
import { listening, ready, run } from './petStoreProcess.ts';

// Tests two pet stores on one database whose server is killed, and whose acknowledgements are lost, in many rounds, on the
// bundle of `npm start`. Starts `.ci/mongo` and kills it, so nothing else may use that server. It needs root or sudo.
// Usage: databaseFaultTest.ts [rounds]
const rounds = countArgument('rounds', process.argv[2], 50);
const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const mongo = fileURLToPath(new URL('../../../../.ci/mongo', import.meta.url));
const apiKey = 'a-key-for-the-tests-0123456789';
const database = `petstore-faults-${process.pid}`;

/** The BSON bytes of `{ insert: 'animals' }`: the name, the length of the string, the string. */
const insertOfAnimal = 'insert\0\u0008\0\0\0animals\0';
/** Acknowledged creates before and after a fault, and lost acknowledgements per round. */
const createsAround = 30;
const cutsPerRound = 10;

/** Runs a verb of `.ci/mongo`. */
async function control(verb: string): Promise<string> {
  const variables = ['PATH', 'MONGO_DIR', 'MONGO_PORT', 'MONGO_PG_PORT'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const command = process.getuid?.() === 0 ? [mongo, verb] : ['sudo', 'env', ...variables, mongo, verb];
  const [program = '', ...args] = command;
  return (await promisify(execFile)(program, args)).stdout.trim();
}

const uri = await control('up');
const proxy = await startFaultProxy(uri);

/** Injects a fault while animals are created, and ends it. */
const faults: Readonly<Record<string, () => Promise<unknown>>> = {
  'every process of the database killed': async () => {
    await control('kill-db');
    await control('up');
  },
  'postmaster of the database killed': async () => {
    await control('kill-postmaster');
    await control('up');
  },
  'acknowledgements of the database lost': async () => {
    const wanted = proxy.cuts + cutsPerRound;
    proxy.set({ kind: 'cutResponses', percent: 50, only: insertOfAnimal });
    await eventually(
      () => `${wanted} lost acknowledgements; there are ${proxy.cuts}`,
      () => proxy.cuts >= wanted,
    );
    proxy.set({ kind: 'none' });
  },
};

/** Returns the names of the stored animals with their ids. */
async function storedAnimals(): Promise<readonly (readonly [name: string, id: number])[]> {
  const client = new MongoClient(uri);
  const rows = client.db(database).collection<{ _id: Long | number; name: string }>('animals');
  const all = await rows.find({}, { projection: { name: 1 }, batchSize: 10_000 }).toArray();
  await client.close();
  return all.map(({ _id: id, name }) => [name, Number(id)]);
}

/** Compares all acknowledged with all stored animals. */
async function compare(acknowledged: readonly (readonly [name: string, id: number])[]) {
  const stored = await storedAnimals();
  const nameById = new Map(stored.map(([name, id]) => [id, name]));
  return {
    lost: acknowledged.filter(([name, id]) => nameById.get(id) !== name).length,
    idsTwice: acknowledged.length - new Set(acknowledged.map(([, id]) => id)).size,
    doubled: stored.length - new Set(stored.map(([name]) => name)).size,
    unacknowledged: stored.length - acknowledged.length,
  };
}

const folder = await mkdtemp(join(tmpdir(), 'petstore-database-'));
const started = ['a', 'b'].map((name) =>
  run({
    entry,
    env: {
      API_KEY: apiKey,
      DATA_DIR: join(folder, name),
      MONGODB_URI: proxy.uri,
      MONGODB_DB: database,
      PORT: '0',
      LOG_REQUESTS: 'none',
    },
  }),
);
let isGood = true;
try {
  const servers = await Promise.all(started.map((each) => listening(each)));
  await Promise.all(servers.map((server) => ready(server)));
  const origins = servers.map(({ origin }) => origin);
  const acknowledged: (readonly [name: string, id: number])[] = [];
  for (const [fault, inject] of Object.entries(faults)) {
    const statuses: Record<string, number> = {};
    const before = acknowledged.length;
    let compared = { lost: 0, idsTwice: 0, doubled: 0, unacknowledged: 0 };
    let slowestMs = 0;
    for (let round = 1; round <= rounds && isGood; round += 1) {
      const creates = startCreates({
        origins,
        apiKey,
        prefix: `${fault.replaceAll(' ', '-')}-${round}`,
        statuses,
      });
      await creates.acknowledgedMore(createsAround);
      await sleep(Math.random() * 300);
      await inject();
      const endedAt = performance.now();
      await creates.acknowledgedMore(createsAround);
      slowestMs = Math.max(slowestMs, performance.now() - endedAt);
      await creates.stop();
      acknowledged.push(...creates.acknowledged);
      compared = await compare(acknowledged);
      isGood = compared.lost + compared.idsTwice + compared.doubled === 0;
      if (process.stderr.isTTY) process.stderr.write(`\r${fault}: ${round} rounds`);
    }
    const result = isGood ? 'met' : `MISSED, kept in the database ${database}; log ${await control('log')}`;
    process.stdout.write(
      `${fault}, ${rounds} rounds: ${result}\n  ${acknowledged.length - before} acknowledged; of all rounds so far ${JSON.stringify(compared)}; ` +
        `${createsAround} more after ${Math.round(slowestMs)} ms at most; ${proxy.cuts} cuts; statuses ${JSON.stringify(statuses)}\n`,
    );
    if (!isGood) break;
  }
} finally {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ exited }) => exited));
  await proxy.close();
  await rm(folder, { recursive: true, force: true });
}
if (isGood) {
  const client = new MongoClient(uri);
  await client.db(database).dropDatabase();
  await client.close();
}
process.exitCode = isGood ? 0 : 1;
