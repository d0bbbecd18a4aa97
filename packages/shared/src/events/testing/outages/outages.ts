import { setTimeout as sleep } from 'node:timers/promises';
import type { OutageCluster } from './outageCluster.ts';

export interface Outage {
  readonly name: string;
  /** How long it takes, about: events are published all the time. */
  readonly seconds: number;
  /** How many events of a channel are kept. Default: all. */
  readonly keep?: number;
  /** Resolves when the outage is over. */
  readonly run: (cluster: OutageCluster) => Promise<void>;
}

/** Cuts the connections of one machine to Redis. */
const cut = (kind: 'freeze' | 'reject', seconds: number, keep?: number): Outage => ({
  name: `${kind === 'freeze' ? 'frozen' : 'rejected'} connections, ${seconds} s${keep ? ', beyond what is kept' : ''}`,
  seconds: seconds + 1,
  ...(keep !== undefined && { keep }),
  async run({ proxies: [proxy] }) {
    await sleep(300);
    proxy?.set({ kind });
    await sleep(seconds * 1000);
    proxy?.set({ kind: 'none' });
  },
});

/** Suspends two workers of different machines. */
const suspendWorkers = (seconds: number): Outage => ({
  name: `suspended workers, ${seconds} s`,
  seconds: seconds + 1,
  async run({ workers }) {
    await sleep(300);
    const suspended = [workers[0], workers.at(-1)];
    for (const worker of suspended) worker?.freeze();
    await sleep(seconds * 1000);
    for (const worker of suspended) worker?.resume();
  },
});

const killWorkers: Outage = {
  name: 'killed workers',
  seconds: 6,
  async run({ workers }) {
    const starting: Promise<void>[] = [];
    for (const worker of workers) {
      // oxlint-disable no-await-in-loop -- one worker after the other
      await sleep(300);
      await worker.kill();
      // oxlint-enable no-await-in-loop
      starting.push(worker.start());
    }
    await Promise.all(starting);
  },
};

const suspendServer = (seconds: number): Outage => ({
  name: `suspended Redis, ${seconds} s`,
  seconds: seconds + 1,
  async run({ server }) {
    await sleep(300);
    server.freeze();
    await sleep(seconds * 1000);
    server.resume();
  },
});

const killServer: Outage = {
  name: 'killed Redis',
  seconds: 2,
  async run({ server }) {
    await sleep(500);
    await server.kill();
    await sleep(500);
    await server.start();
  },
};

const flush: Outage = {
  name: 'FLUSHALL',
  seconds: 1,
  async run({ server }) {
    await sleep(500);
    await server.command('FLUSHALL');
  },
};

/** The outages of one Redis server. */
export const outages = (isShort: boolean): readonly Outage[] => [
  { name: 'no outage', seconds: 1, run: async () => {} },
  cut('reject', 1),
  cut('freeze', 1),
  cut('reject', 2, 20),
  killServer,
  flush,
  ...(isShort ? [] : [cut('reject', 10), cut('freeze', 10), cut('freeze', 6, 20)]),
  ...(isShort ? [] : [suspendServer(1), suspendServer(10), suspendWorkers(1), suspendWorkers(10)]),
  killWorkers,
];

/** Outages after which Sentinel replaces the server: each begins with another group. */
export const sentinelOutages = (isShort: boolean): readonly Outage[] => [
  {
    name: 'killed Redis that Sentinel replaces',
    seconds: 6,
    async run({ server }) {
      await sleep(500);
      await server.kill();
      await sleep(3000);
    },
  },
  ...(isShort
    ? []
    : [
        {
          name: 'suspended Redis that Sentinel replaces',
          seconds: 9,
          async run({ server }: OutageCluster) {
            await sleep(500);
            server.freeze();
            await sleep(8000);
            server.resume();
          },
        },
      ]),
];
