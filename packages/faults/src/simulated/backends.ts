import { memoryState } from 'trpc-gateway';
import { type EventLog, memoryEventLog } from 'trpc-gateway-shared';
import { folderEventLog } from 'trpc-gateway-shared/events/folder';
import { redisEventLog } from 'trpc-gateway-shared/events/redis';
import { type FolderState, folderState } from 'trpc-gateway-shared/state/folder';
import { type RedisState, redisState } from 'trpc-gateway-shared/state/redis';
import { type Fault, isOver } from '../history/fault.ts';
import type { Plan } from '../history/plan.ts';
import type { Random } from '../random.ts';
import type { Backend, FaultyProcesses, OpenedBackend } from './backend.ts';
import { mount, unmountAll } from './disk/mounts.ts';
import { SimulatedDisk } from './disk/simulatedDisk.ts';
import type { Published } from '../history/rules.ts';
import { SimulatedRedis } from './redis/simulatedRedis.ts';
import type { RunningProcess } from './runningProcess.ts';
import { runIn } from './simulatedProcess.ts';

/** Creates what the processes of a history share. */
export const createBackend = (name: Plan['backend'], random: Random): Backend => backends[name](random);

const backends: Readonly<Record<Plan['backend'], (random: Random) => Backend>> = {
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

const opened = (state: FolderState | RedisState, log: EventLog): OpenedBackend => ({
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
    const [from, ...others] = processes.reachable;
    if (from === undefined || others.length === 0 || !random.chance(burstRate)) return isOver;
    const release = hold(random.pick(others));
    return () => {
      runIn(from.process, () => {
        const { channel } = from.service;
        const publish = (key: string) =>
          void channel.publish(key, 'burst').then(
            (id) => published.push({ channel: key, id }),
            () => {},
          );
        // The first wakes who waits, and what follows is missed.
        publish('burst');
        publish('a');
        const count = random.pick([998, 999, 1000, 1500]);
        // Of as many channels: of one, few would be kept.
        for (let at = 0; at < count; at += 1) publish(`burst ${at}`);
        publish('b');
      });
      setTimeout(release, 500);
    };
  },
});

function folderFaults(
  disk: SimulatedDisk,
  processes: FaultyProcesses,
  published: Published[],
): readonly Fault[] {
  const { faults } = disk;
  return [
    {
      name: 'full disk',
      separates: true,
      begin() {
        faults.full = true;
        return () => void (faults.full = false);
      },
    },
    {
      name: 'failing disk',
      separates: true,
      begin() {
        faults.failing = true;
        return () => void (faults.failing = false);
      },
    },
    {
      name: 'frozen disk',
      separates: true,
      begin() {
        faults.freeze();
        return () => faults.thaw();
      },
    },
    {
      name: 'slow disk',
      separates: true,
      begin() {
        faults.commitMs = 1500;
        return () => void (faults.commitMs = 2);
      },
    },
    {
      name: 'power failure',
      kills: true,
      // Events are not synced.
      loses: 'events',
      begin() {
        const { length } = processes.killAll();
        disk.crash();
        return () => processes.restartAll(length);
      },
    },
    {
      name: 'removed files',
      kills: true,
      loses: 'both',
      begin() {
        const { length } = processes.killAll();
        disk.remove('/data');
        return () => processes.restartAll(length);
      },
    },
    {
      name: 'restored backup',
      rewinds: true,
      kills: true,
      loses: 'both',
      begin() {
        const copies = disk.backUp('/data');
        return () => {
          const { length } = processes.killAll();
          // Another fault may have removed the folder.
          if (disk.find('/data')) disk.restore(copies);
          processes.restartAll(length);
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
  const ofLink =
    (begin: (link: ReturnType<SimulatedRedis['link']>) => () => void): Fault['begin'] =>
    (random) => {
      const { reachable } = processes;
      return reachable.length === 0 ? isOver : begin(server.link(random.pick(reachable).process));
    };
  /** After its keys were removed, a service has to be restarted. */
  const losing =
    (lose: (random: Random) => void): Fault['begin'] =>
    (random) => {
      lose(random);
      return () => {
        server.start();
        return processes.restartAll(processes.killAll().length);
      };
    };
  return [
    {
      name: 'killed Redis',
      separates: true,
      // Of another server, channels begin with a new epoch.
      loses: 'events',
      begin() {
        server.kill();
        return () => server.start();
      },
    },
    {
      name: 'killed Redis without a file',
      kills: true,
      loses: 'both',
      begin: losing(() => server.kill(Infinity)),
    },
    { name: 'FLUSHALL', kills: true, loses: 'both', begin: losing(() => server.flush()) },
    {
      name: 'failover',
      kills: true,
      loses: 'both',
      begin: losing((random) => server.failover(random.pick([0, 5, 500]))),
    },
    {
      name: 'suspended Redis',
      separates: true,
      begin() {
        server.freeze();
        return () => server.resume();
      },
    },
    {
      name: 'cut Redis',
      separates: true,
      begin: ofLink((link) => {
        link.cut();
        return () => link.mend();
      }),
    },
    {
      name: 'frozen Redis',
      separates: true,
      begin: ofLink((link) => {
        link.freeze();
        return () => link.resume();
      }),
    },
    burst(processes, published, ({ process }) => {
      server.link(process).freeze();
      return () => server.link(process).resume();
    }),
    {
      name: 'lost replies of Redis',
      separates: true,
      begin: ofLink((link) => {
        link.dropReplies();
        return isOver;
      }),
    },
    {
      name: 'slow Redis',
      separates: true,
      begin: ofLink((link) => {
        link.delayMs = 700;
        return () => void (link.delayMs = 0);
      }),
    },
  ];
}
