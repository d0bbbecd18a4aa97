import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '@petstore/testing/eventually';
import { freePort } from '@petstore/testing/freePort';
import { type Fault, type FaultProxy, startFaultProxy } from '@petstore/testing/mongodb';
import { attachStrace } from '@petstore/testing/strace';
import { onTestFinished } from 'vitest';
import { newDatabase } from './newDatabase.ts';
import { apiKey, newFolder } from './newFolder.ts';
import { holdLock, ready, type RunningServer } from './petStoreProcess.ts';

/** A process, and the proxy between it and its clients. */
interface Place {
  readonly front: FaultProxy;
  server: RunningServer;
  readonly restart: () => Promise<void>;
}

/** Two processes of the pet store on one store, in which a fault can be injected. */
export interface FaultyService {
  readonly places: readonly Place[];
  /** The proxy between the processes and their database; `undefined` on a folder. */
  readonly database: FaultProxy | undefined;
  readonly start: Awaited<ReturnType<typeof newFolder>>['start'];
  readonly command: Awaited<ReturnType<typeof newFolder>>['command'];
  readonly dataDir: string;
}

/** Starts two processes. They and their store are removed when the test ends. */
export async function startFaultyService(kind: 'folder' | 'database'): Promise<FaultyService> {
  const folder = kind === 'folder' ? await newFolder() : undefined;
  const store = folder ?? (await newDatabase());
  const database = 'uri' in store ? await startFaultProxy(store.uri) : undefined;
  if (database) onTestFinished(() => database.close());
  const places: Place[] = [];
  for (let at = 0; at < 2; at += 1) {
    const PORT = String(await freePort());
    const env = {
      API_KEY: apiKey,
      LOG_REQUESTS: 'none',
      PORT,
      ...(database && { MONGODB_URI: database.uri }),
    };
    const front = await startFaultProxy(`http://127.0.0.1:${PORT}`);
    onTestFinished(() => front.close());
    const place = {
      front,
      server: await store.serve({ env }),
      restart: async () => void (place.server = await store.serve({ env })),
    };
    places.push(place);
    await ready(place.server);
  }
  const { command, start } = store;
  return { places, database, start, command, dataDir: folder?.dataDir ?? '' };
}

/** Begins a fault, and resolves when it has hit something. @returns a function that ends it */
type Begin = (service: FaultyService) => Promise<() => Promise<unknown> | void>;

const anyOf = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

/** A fault of the connections through some proxies. */
const ofProxies =
  (fault: Fault, proxiesOf: (service: FaultyService) => readonly (FaultProxy | undefined)[]): Begin =>
  async (service) => {
    const proxies = proxiesOf(service).filter((proxy) => proxy !== undefined);
    const cuts = () => proxies.reduce((sum, proxy) => sum + proxy.cuts, 0);
    const before = cuts();
    for (const proxy of proxies) proxy.set(fault);
    const hasHit = () => !('percent' in fault) || cuts() > before;
    await eventually(() => `${fault.kind} has cut a response`, hasHit);
    return () => {
      for (const proxy of proxies) proxy.set({ kind: 'none' });
    };
  };

/** Ends a process by a signal; the end of the fault starts it again. */
const ofSignal =
  (
    signal: NodeJS.Signals,
    expected: RunningServer['exited'] extends Promise<infer Exit> ? Exit : never,
  ): Begin =>
  async ({ places }) => {
    const place = anyOf(places);
    place.server.child.kill(signal);
    const exit = await place.server.exited;
    if (exit.code !== expected.code || exit.signal !== expected.signal)
      throw new Error(
        `${signal} ended the process with ${exit.signal ?? exit.code}: ${place.server.stderr()}`,
      );
    return place.restart;
  };

const frontsOf = ({ places }: FaultyService) => places.map(({ front }) => front);

/** Faults of processes and of connections to them, on every store. */
const processFaults = {
  'killed process': ofSignal('SIGKILL', { code: null, signal: 'SIGKILL' }),
  'stopped process': ofSignal('SIGTERM', { code: 0, signal: null }),
  'lost replies': ofProxies({ kind: 'cutResponses', percent: 40 }, frontsOf),
} satisfies Record<string, Begin>;

/** Makes a system call of a process fail, once or from then on. It may end the process, which is then started again. */
const ofSystemCall =
  (call: string): Begin =>
  async ({ dataDir, places }) => {
    const place = anyOf(places);
    const output = `${dataDir}-strace`;
    const when = `${1 + Math.floor(Math.random() * 8)}${anyOf(['', '+3'])}`;
    const detach = await attachStrace(place.server.child.pid ?? 0, output, call, `error=EIO:when=${when}`);
    await eventually(
      () => `${call} has failed`,
      async () => (await readFile(output, 'utf8')).includes('(INJECTED)'),
    );
    return async () => {
      await detach();
      const hasEnded = await Promise.race([place.server.exited.then(() => true), sleep(1000, false)]);
      if (hasEnded) await place.restart();
    };
  };

const folderFaults = {
  'EIO of pwrite64': ofSystemCall('pwrite64'),
  'EIO of fdatasync': ofSystemCall('fdatasync'),
  'suspended holder of the write lock': async ({ dataDir, start }) => {
    const { child, exited } = start(holdLock(dataDir));
    await once(child.stdout ?? child, 'data');
    child.kill('SIGSTOP');
    return async () => {
      child.kill('SIGKILL');
      await exited;
    };
  },
} satisfies Record<string, Begin>;

/** The BSON bytes of `{ insert: 'animals' }`: the name, the length of the string, the string. */
const insertOfAnimal = 'insert\0\u0008\0\0\0animals\0';
const databaseOf = ({ database }: FaultyService) => [database];

const databaseFaults = {
  'lost replies of the database': ofProxies(
    { kind: 'cutResponses', percent: 50, only: insertOfAnimal },
    databaseOf,
  ),
  'halved replies of the database': ofProxies({ kind: 'cutMessages', percent: 5 }, databaseOf),
  'rejected database': ofProxies({ kind: 'reject' }, databaseOf),
  'frozen database': ofProxies({ kind: 'freeze' }, databaseOf),
  'slow database': ofProxies({ kind: 'delay', ms: 300 }, databaseOf),
} satisfies Record<string, Begin>;

const mongo = fileURLToPath(new URL('../../../../.ci/mongo', import.meta.url));

/** Runs a verb of `.ci/mongo`, which needs root. */
async function control(verb: string): Promise<void> {
  const variables = ['PATH', 'MONGO_DIR', 'MONGO_PORT', 'MONGO_PG_PORT'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [`${name}=${value}`];
  });
  const [program = '', ...args] =
    process.getuid?.() === 0 ? [mongo, verb] : ['sudo', 'env', ...variables, mongo, verb];
  await promisify(execFile)(program, args);
}

/** Kills processes of the database; the end of the fault starts it again. */
const ofDatabase =
  (verb: 'kill-db' | 'kill-postmaster'): Begin =>
  async () => {
    await control(verb);
    return () => control('up');
  };

/** Faults of the server of `.ci/mongo`, which nothing else may use then: `npm run test:databasefaults -w @petstore/server`. */
const killedDatabase = {
  'every process of the database killed': ofDatabase('kill-db'),
  'postmaster of the database killed': ofDatabase('kill-postmaster'),
} satisfies Record<string, Begin>;

/** Several faults at once. */
const together =
  (begins: readonly Begin[]): Begin =>
  async (service) => {
    const ends = await Promise.all(begins.map((begin) => begin(service)));
    return async () => {
      for (const end of ends) await end();
    };
  };

/** The faults of each store, by their names. */
export const faults: Readonly<Record<'folder' | 'database', Readonly<Record<string, Begin>>>> = {
  folder: { ...processFaults, ...folderFaults },
  database: {
    ...processFaults,
    ...databaseFaults,
    ...(process.env['KILLS_DATABASE'] !== undefined && killedDatabase),
    'killed process, lost replies, and lost replies of the database': together([
      processFaults['lost replies'],
      databaseFaults['lost replies of the database'],
      processFaults['killed process'],
    ]),
  },
};
