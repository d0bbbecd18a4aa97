import { setTimeout as sleep } from 'node:timers/promises';
import { memoryState, type State } from 'trpc-gateway';
import { type EventLog, memoryEventLog } from 'trpc-gateway-shared';
import { folderEventLog } from 'trpc-gateway-shared/events/folder';
import { redisEventLog } from 'trpc-gateway-shared/events/redis';
import { type FolderState, folderState } from 'trpc-gateway-shared/state/folder';
import { type RedisState, redisState } from 'trpc-gateway-shared/state/redis';
import { type Fault, isOver } from '../history/fault.ts';
import type { Plan } from '../history/plan.ts';
import type { Random } from '@petstore/testing/random';
import { mount, unmountAll } from './disk/mounts.ts';
import type { DiskFaults } from './disk/diskFaults.ts';
import { SimulatedDisk } from './disk/simulatedDisk.ts';
import type { Published } from '../history/rules.ts';
import { SimulatedRedis } from './redis/simulatedRedis.ts';
import { faultOfLink } from './link.ts';
import type { FaultyProcesses, RunningProcess } from './runningProcess.ts';
import { runIn, type SimulatedProcess } from './simulatedProcess.ts';

export interface OpenedStorage {
  readonly state: State;
  readonly log: EventLog;
  close(): Promise<void>;
}

/** What the processes of a service share. */
export interface Storage {
  /** Whether several processes can share it, and what they share survives them. */
  readonly isShared: boolean;
  /** @throws while it is away */
  open(process: SimulatedProcess): Promise<OpenedStorage>;
  /** Faults of what they share. */
  faults(processes: FaultyProcesses, published: Published[]): readonly Fault[];
}

/** Creates what the processes of a history share. */
export const createStorage = (name: Plan['storage'], random: Random): Storage => storages[name](random);

const storages: Readonly<Record<Plan['storage'], (random: Random) => Storage>> = {
  memory: () => ({
    isShared: false,
    async open() {
      const log = memoryEventLog();
      return { state: memoryState(), log, close: () => log.close() };
    },
    faults: () => [],
  }),
  folder(random) {
    unmountAll();
    const disk = new SimulatedDisk(random);
    return {
      isShared: true,
      async open(process) {
        mount(process, disk);
        const path = `/${process.name}/data`;
        const state = folderState({ path });
        const log = folderEventLog({ path });
        return opened(state, log);
      },
      faults: (processes, published) => folderFaults(disk, processes, published),
    };
  },
  redis(random) {
    const server = new SimulatedRedis(random);
    return {
      isShared: true,
      async open(process) {
        const connect = () => server.client(process);
        const state = await redisState({ connect });
        const log = redisEventLog({ connect });
        return opened(state, log);
      },
      faults: (processes, published) => redisFaults(server, processes, published),
    };
  },
};

const opened = (state: FolderState | RedisState, log: EventLog): OpenedStorage => ({
  state,
  log,
  async close() {
    await log.close();
    await state.close();
  },
});

/** How often a burst is one: it takes as long as ten histories. */
const burstRate = 0.1;

/**
 * About as many events as a process is told of at once, before and after which there is one of a channel that others read.
 * @param hold keeps a process from hearing of them until the returned function is called
 */
const burst = (
  processes: FaultyProcesses,
  published: Published[],
  hold: (running: RunningProcess) => () => void,
): Fault => ({
  name: 'burst of events',
  separates: true,
  begin(random) {
    if (!random.chance(burstRate)) return isOver;
    // At the end: fewer events follow, which would wake the readers too.
    return async () => {
      const [from, ...others] = processes.reachable;
      if (from === undefined || others.length === 0) return;
      const release = hold(random.pick(others));
      const publish = (key: string) =>
        void runIn(from.process, () => from.service.channel.publish(key, 'burst')).then(
          (id) => published.push({ channel: key, id }),
          () => {},
        );
      // This event alone wakes a waiting reader, which misses those that follow.
      publish('burst');
      await sleep(50);
      publish('a');
      // Of as many channels: of one, few would be kept.
      for (let left = random.pick([998, 999, 1000, 1500]); left > 0; left -= 1) publish(`burst ${left}`);
      publish('b');
      await sleep(450);
      release();
    };
  },
});

/** A fault that keeps from processes what they share, from its begin to its end. */
const separating = (name: string, begin: () => void, end: () => void): Fault => ({
  name,
  separates: true,
  begin() {
    begin();
    return end;
  },
});

/** One that changes a property of a disk, and back. */
const setting = <Key extends 'commitMs' | 'failing' | 'full'>(
  name: string,
  faults: DiskFaults,
  key: Key,
  [during, after]: readonly [DiskFaults[Key], DiskFaults[Key]],
): Fault =>
  separating(
    name,
    () => (faults[key] = during),
    () => (faults[key] = after),
  );

function folderFaults(
  disk: SimulatedDisk,
  processes: FaultyProcesses,
  published: Published[],
): readonly Fault[] {
  const { faults } = disk;
  /** A fault of the machine, whose processes end with it. */
  const ofMachine = (name: string, loses: 'both' | 'events', change: () => void): Fault => ({
    name,
    kills: true,
    loses,
    begin() {
      const restart = processes.killAll();
      change();
      return restart;
    },
  });
  return [
    setting('full disk', faults, 'full', [true, false]),
    setting('failing disk', faults, 'failing', [true, false]),
    separating(
      'frozen disk',
      () => faults.freeze(),
      () => faults.thaw(),
    ),
    setting('slow disk', faults, 'commitMs', [1500, 2]),
    // Events are not synced.
    ofMachine('power failure', 'events', () => disk.crash()),
    ofMachine('removed files', 'both', () => disk.remove('/data')),
    {
      name: 'restored backup',
      rewinds: true,
      kills: true,
      loses: 'both',
      begin() {
        const copies = disk.backUp('/data');
        return () => {
          const restart = processes.killAll();
          // Another fault may have removed the folder.
          if (disk.find('/data')) disk.restore(copies);
          restart();
        };
      },
    },
    burst(processes, published, () => isOver),
  ];
}

function redisFaults(
  server: SimulatedRedis,
  processes: FaultyProcesses,
  published: Published[],
): readonly Fault[] {
  /** A fault of the network of one process. */
  const ofLink = (name: string, kind: Parameters<typeof faultOfLink>[1]): Fault => ({
    ...faultOfLink(name, kind, (random) => {
      const { reachable } = processes;
      return reachable.length === 0 ? undefined : server.link(random.pick(reachable).process);
    }),
    separates: true,
  });
  /** After its keys were removed, a service has to be restarted. */
  const losing = (name: string, lose: (random: Random) => void): Fault => ({
    name,
    kills: true,
    loses: 'both',
    begin(random) {
      lose(random);
      return () => {
        server.start();
        processes.killAll()();
      };
    },
  });
  return [
    // Of another server, channels begin with a new epoch.
    {
      ...separating(
        'killed Redis',
        () => server.kill(),
        () => server.start(),
      ),
      loses: 'events',
    },
    losing('killed Redis without a file', () => server.kill(Infinity)),
    losing('FLUSHALL', () => server.flush()),
    // The replica lacks what was written last. It serves at once.
    losing('failover', (random) => {
      server.kill(random.pick([0, 5, 500]));
      server.start();
    }),
    separating(
      'suspended Redis',
      () => server.freeze(),
      () => server.resume(),
    ),
    ofLink('cut Redis', 'cut'),
    ofLink('frozen Redis', 'frozen'),
    burst(processes, published, ({ process }) => {
      server.link(process).freeze();
      return () => server.link(process).thaw();
    }),
    ofLink('lost replies of Redis', 'lossy'),
    ofLink('slow Redis', 'slow'),
  ];
}
