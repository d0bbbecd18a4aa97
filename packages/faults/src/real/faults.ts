import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FaultProxy } from '@petstore/testing/redis';
import { holdWriteLock } from '@petstore/testing/holdWriteLock';
import { attachStrace } from '@petstore/testing/strace';
import { type Fault, isOver } from '../history/fault.ts';
import type { Random } from '../random.ts';
import type { Processes, Started } from './processes.ts';
import type { Storage, StorageKind } from './storage.ts';
import { storeFolder } from './storeOutside.ts';

/** What a fault may affect. */
export interface Target {
  readonly processes: Processes;
  readonly storage: Storage;
}

type Begin = (target: Target, random: Random) => Promise<() => Promise<unknown> | void>;

/** A fault of the table. */
export interface RealFault extends Pick<Fault, 'kills' | 'loses' | 'separates'> {
  readonly begin: Begin;
  /** Default: the state of the row. */
  readonly storage?: StorageKind;
  readonly usesStrace?: boolean;
  /** Whether a process may end by it, and is then started again. */
  readonly ends?: boolean;
}

/** A fault of one of the processes that run. */
const ofProcess =
  (begin: (target: Target, started: Started, random: Random) => ReturnType<Begin>): Begin =>
  async (target, random) => {
    const reachable = target.processes.reachable.filter(({ isSuspended }) => !isSuspended);
    return reachable.length === 0 ? isOver : begin(target, random.pick(reachable), random);
  };

/** A fault of the connections to one process, or to all. */
const ofProxy =
  (fault: Parameters<FaultProxy['set']>[0], proxiesOf: (target: Target) => readonly FaultProxy[]): Begin =>
  async (target, random) => {
    const all = proxiesOf(target);
    const proxies = random.chance(0.5) ? all : [random.pick(all)];
    for (const proxy of proxies) proxy.set(fault);
    return () => {
      for (const proxy of proxies) proxy.set({ kind: 'none' });
    };
  };

const frontOf = ({ processes }: Target) => processes.places.map(({ proxy }) => proxy);

/** Faults of processes, on every state. */
const processFaults: Readonly<Record<string, RealFault>> = {
  'killed process': {
    kills: true,
    begin: ofProcess(async ({ processes }, started) => {
      await processes.kill(started);
      return () => processes.start(started.place);
    }),
  },
  'stopped process': {
    kills: true,
    begin: ofProcess(async ({ processes }, started) => {
      const stopped = processes.stop(started);
      return async () => {
        await stopped;
        await processes.start(started.place);
      };
    }),
  },
  'suspended process': {
    separates: true,
    begin: ofProcess(async (_, started) => {
      started.isSuspended = true;
      started.service.child.kill('SIGSTOP');
      return () => {
        started.isSuspended = false;
        started.service.child.kill('SIGCONT');
      };
    }),
  },
};

/** Faults of clients and of connections to them, which no state notices. */
const clientFaults: Readonly<Record<string, RealFault>> = {
  'cut clients': { begin: ofProxy({ kind: 'reject' }, frontOf) },
  'lost replies': { begin: ofProxy({ kind: 'cutResponses', percent: 50 }, frontOf) },
  'halved replies': { begin: ofProxy({ kind: 'cutMessages', percent: 50 }, frontOf) },
  'frozen clients': { begin: ofProxy({ kind: 'freeze' }, frontOf) },
  'slow clients': { begin: ofProxy({ kind: 'delay', ms: 800 }, frontOf) },
};

const databaseOf = ({ storage }: Target) => storage.proxies;

/** Faults of the connections to a database. */
const connectionFaults: Readonly<Record<string, RealFault>> = {
  'lost replies of the database': {
    separates: true,
    begin: ofProxy({ kind: 'cutResponses', percent: 50 }, databaseOf),
  },
  'halved replies of the database': {
    separates: true,
    begin: ofProxy({ kind: 'cutMessages', percent: 50 }, databaseOf),
  },
  'rejected database': { separates: true, begin: ofProxy({ kind: 'reject' }, databaseOf) },
  'frozen database': { separates: true, begin: ofProxy({ kind: 'freeze' }, databaseOf) },
  'stopped process whose database hangs': {
    // A store that does not close in time ends the process with an error.
    ends: true,
    kills: true,
    separates: true,
    begin: ofProcess(async ({ processes, storage: { proxies } }, started) => {
      for (const proxy of proxies) proxy.set({ kind: 'freeze' });
      await processes.stop(started);
      return () => {
        for (const proxy of proxies) proxy.set({ kind: 'none' });
        return processes.start(started.place);
      };
    }),
  },
};

const redisFaults: Readonly<Record<string, RealFault>> = {
  ...connectionFaults,
  'killed Redis': {
    separates: true,
    // Its successor begins each channel anew.
    loses: 'events',
    async begin({ storage: { servers } }) {
      await servers[0]?.kill();
      return () => servers[0]?.start();
    },
  },
  'suspended Redis': {
    separates: true,
    async begin({ storage: { servers } }) {
      servers[0]?.freeze();
      return () => servers[0]?.resume();
    },
  },
  FLUSHALL: {
    kills: true,
    loses: 'both',
    async begin({ processes, storage: { servers } }) {
      await servers[0]?.command('FLUSHALL');
      // As the error says: "Restart all processes of the service."
      return () =>
        Promise.all(
          processes.reachable.map(async (started) => {
            await processes.stop(started);
            await processes.start(started.place);
          }),
        );
    },
  },
  'replaced Redis': {
    storage: 'sentinel',
    separates: true,
    // Replication is asynchronous.
    loses: 'both',
    async begin({ storage: { servers } }, random) {
      // A replica rejects it.
      const replies = await Promise.all(
        servers.map((each) => each.command('WAIT', '0', '1').catch(() => '')),
      );
      const server = servers[replies.findIndex((reply) => reply.startsWith(':'))];
      if (random.chance(0.5)) {
        server?.freeze();
        return () => server?.resume();
      }
      await server?.kill();
      return () => server?.start();
    },
  },
};

/** System calls that fail or hang, from the first, second or third on, or once. */
const ofSystemCall = (call: string, effect: string): RealFault => ({
  separates: true,
  // After a write that has failed, lmdb 3.5.6 damages its heap at times: SIGABRT, at once or when the process stops.
  ends: call === 'pwrite64',
  kills: call === 'pwrite64',
  usesStrace: true,
  begin: ofProcess(async ({ storage }, { service }, random) => {
    const when = `${random.from(1, 3)}${random.chance(0.5) ? '+' : ''}`;
    return attachStrace(
      service.child.pid ?? 0,
      join(storage.outside, 'strace'),
      call,
      `${effect}:when=${when}`,
    );
  }),
});

const folderFaults: Readonly<Record<string, RealFault>> = {
  'EIO of pwrite64': ofSystemCall('pwrite64', 'error=EIO'),
  'EIO of fdatasync': ofSystemCall('fdatasync', 'error=EIO'),
  'ENOSPC of pwrite64': ofSystemCall('pwrite64', 'error=ENOSPC'),
  'frozen disk': ofSystemCall('fdatasync', 'delay_enter=2500000'),
  'full disk': {
    storage: 'smallDisk',
    separates: true,
    async begin({ storage: { folder } }) {
      const filler = join(folder, 'filler');
      await writeFile(filler, Buffer.alloc(3_000_000)).catch(() => {});
      return () => rm(filler);
    },
  },
};

const embeddedFaults: Readonly<Record<string, RealFault>> = {
  // After an error of a meta page, LMDB cannot be used in the process.
  'EIO of pwrite64': folderFaults['EIO of pwrite64'] as RealFault,
  'EIO of fdatasync': { ...(folderFaults['EIO of fdatasync'] as RealFault), ends: true, kills: true },
  'suspended holder of the write lock': {
    separates: true,
    async begin({ storage: { folder } }) {
      const child = await holdWriteLock(join(storeFolder(folder), 'petstore.mdb'));
      child.kill('SIGSTOP');
      return async () => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
    },
  },
};

/** Several faults at once. */
const together = (...all: readonly (RealFault | undefined)[]): RealFault => ({
  kills: true,
  separates: true,
  async begin(target, random) {
    const ends = await Promise.all(all.map(async (each) => each?.begin(target, random)));
    return () => Promise.all(ends.map(async (end) => end?.()));
  },
});

/** Kills processes of the server of `.ci/mongo`, which nothing else may use then. */
const ofDatabase = (verb: 'kill-db' | 'kill-postmaster'): RealFault => ({
  separates: true,
  async begin() {
    await control(verb);
    return () => control('up');
  },
});

const mongo = fileURLToPath(new URL('../../../../.ci/mongo', import.meta.url));
const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-E'];

function control(verb: string): Promise<unknown> {
  const [program, ...args] = [...asRoot, mongo, verb];
  return promisify(execFile)(program, args);
}

/** `npm run test:databasefaults -w @petstore/faults`. */
const killedDatabase: Readonly<Record<string, RealFault>> = {
  'every process of the database killed': ofDatabase('kill-db'),
  'postmaster of the database killed': ofDatabase('kill-postmaster'),
};

/** The table: the faults of each state, by their names. */
export const faults: Readonly<
  Record<'database' | 'embedded' | 'folder' | 'mongodb' | 'redis', Readonly<Record<string, RealFault>>>
> = {
  embedded: {
    ...processFaults,
    'lost replies': clientFaults['lost replies'] as RealFault,
    ...embeddedFaults,
  },
  database: {
    ...processFaults,
    ...connectionFaults,
    'killed process, lost replies, and lost replies of the database': together(
      processFaults['killed process'],
      clientFaults['lost replies'],
      connectionFaults['lost replies of the database'],
    ),
    'slow database': { separates: true, begin: ofProxy({ kind: 'delay', ms: 300 }, databaseOf) },
    ...(process.env['KILLS_DATABASE'] !== undefined && killedDatabase),
  },
  folder: { ...processFaults, ...clientFaults, ...folderFaults },
  redis: { ...processFaults, ...redisFaults },
  mongodb: { ...processFaults, ...connectionFaults },
};
