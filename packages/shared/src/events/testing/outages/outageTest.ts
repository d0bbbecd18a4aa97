/*
 * Publishes events to subscribers while Redis, its connections and the workers fail. As a command, `npm run outages:events -w
 * trpc-gateway-shared`, it publishes 100,000 events, or `EVENTS`, to 200 subscribers of 20 channels, which disconnect at
 * random and continue at any of the eight workers of two machines. These must hold for each subscriber:
 *
 * - it gets each event once and in order, or one `resync` where events are missing
 * - there is no `resync` where nothing is missing
 * - it gets what is published after the fault within 30 s
 *
 * `--peer orpc` runs the same on the publisher of oRPC, and counts what it loses.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { countArgument } from '@petstore/testing/countArgument';
import { hasRedis } from '@petstore/testing/redis';
import { type OutageCluster, startOutageCluster } from './outageCluster.ts';
import { type Outage, outages, sentinelOutages } from './outages.ts';
import type { PublishRequest, PublishResponse } from './outageWorker.ts';
import { Subscriber } from './subscriber.ts';

export interface OutageOptions {
  readonly kind: 'log' | 'orpc';
  readonly events: number;
  readonly channels: number;
  readonly subscribersPerChannel: number;
  readonly workersPerMachine: number;
  /** Which outages are run: all of those that take several seconds, or one of each kind. */
  readonly isShort: boolean;
}

export interface OutageCounts {
  /** Events that were stored, as the publisher knows. */
  published: number;
  /** Events of which it is not known whether they were stored. */
  unknown: number;
  delivered: number;
  resyncs: number;
  /** Published events that subscribers did not get: with a `resync` in an event log, silently in the publisher of oRPC. */
  missing: number;
  /** Events that a subscriber got again. */
  repeated: number;
}

export interface OutageReport {
  readonly outages: Readonly<Record<string, OutageCounts>>;
  readonly connections: number;
  readonly violations: readonly string[];
}

/** How long subscribers may take to get what is published after a fault, in milliseconds. */
const settleMs = 30_000;

/** How long a publisher waits for its worker, in milliseconds: the deadline of an append, and 2 s. */
const publishTimeoutMs = 7000;

const eventsPerRequest = 10;
const publishers = 8;

/** How many events of a channel are kept, and in the outage that outlasts them. */
const keptEvents = 100_000;

class OutageTest {
  readonly #cluster: OutageCluster;
  readonly #subscribers: readonly Subscriber[];
  readonly #channels: readonly string[];
  /** The ids of the events that were stored, by channel, and the events. */
  readonly #ids = new Map<string, Set<string>>();
  readonly #stored = new Map<string, Set<string>>();
  readonly violations: string[] = [];
  #unknown = 0;
  #next = 0;

  constructor(cluster: OutageCluster, options: OutageOptions) {
    this.#cluster = cluster;
    this.#channels = Array.from({ length: options.channels }, (_, at) => `channel${at}`);
    this.#subscribers = this.#channels.flatMap((channel) => {
      this.#ids.set(channel, new Set());
      this.#stored.set(channel, new Set());
      return Array.from(
        { length: options.subscribersPerChannel },
        () => new Subscriber(channel, options.kind === 'log'),
      );
    });
  }

  get connections(): number {
    return this.#sum(({ connectionCount }) => connectionCount);
  }

  /** Runs an action with subscribers. */
  async withSubscribers(action: () => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const running = this.#subscribers.map((each) => each.run(this.#cluster.anyPort, controller.signal));
    try {
      // Each has an id from here on.
      await sleep(1000);
      await this.#reachAll('start');
      await action();
    } finally {
      controller.abort();
      await Promise.all(running);
    }
  }

  /** Publishes events during an outage, and waits until each subscriber gets what is published after it. */
  async runOutage({ keep = keptEvents, name, run, seconds }: Outage, events: number): Promise<OutageCounts> {
    for (const stored of this.#stored.values()) stored.clear();
    for (const { received } of this.#subscribers) received.clear();
    const before = { unknown: this.#unknown, resyncs: this.#sum(({ journey }) => journey.resyncCount) };
    const until = this.#next + events;
    const pauseMs = (seconds * 1000 * publishers * eventsPerRequest) / events;
    const publishing = Array.from({ length: publishers }, async () => {
      // oxlint-disable no-await-in-loop -- one request after the other
      while (this.#next < until) {
        await this.#publish(this.#channels[randomInt(this.#channels.length)] ?? '', eventsPerRequest, keep);
        await sleep(2 * Math.random() * pauseMs);
      }
      // oxlint-enable no-await-in-loop
    });
    await run(this.#cluster);
    await Promise.all(publishing);
    await this.#reachAll(name);
    const stored = (channel: string) => this.#stored.get(channel) ?? new Set();
    return {
      published: [...this.#stored.values()].reduce((total, { size }) => total + size, 0),
      unknown: this.#unknown - before.unknown,
      delivered: this.#sum(({ received }) => received.size),
      resyncs: this.#sum(({ journey }) => journey.resyncCount) - before.resyncs,
      missing: this.#sum(
        ({ channel, received }) => [...stored(channel)].filter((event) => !received.has(event)).length,
      ),
      repeated: this.#sum(({ received }) =>
        [...received.values()].reduce((total, count) => total + count - 1, 0),
      ),
    };
  }

  /** Checks what each subscriber of an event log has received. */
  verify(): void {
    // Events whose append failed may have been stored.
    for (const { channel, journey } of this.#subscribers)
      for (const id of journey.ids) this.#ids.get(channel)?.add(id);
    for (const { channel, journey, violation } of this.#subscribers) {
      try {
        if (violation !== undefined) throw violation;
        journey.verify(this.#ids.get(channel) ?? []);
      } catch (error) {
        this.violations.push(`A subscriber of ${channel}: ${String(error)}`);
      }
    }
  }

  /** Publishes to all channels until each subscriber has got one of the events. */
  async #reachAll(outage: string): Promise<void> {
    const until = Date.now() + settleMs;
    const last = new Map(this.#channels.map((channel) => [channel, new Set<string>()]));
    const isReached = ({ channel, received }: Subscriber) =>
      [...(last.get(channel) ?? [])].some((event) => received.has(event));
    while (!this.#subscribers.every(isReached)) {
      if (Date.now() > until) {
        const missing = this.#subscribers.filter((each) => !isReached(each)).length;
        this.violations.push(`${outage}: ${missing} subscribers got no event within ${settleMs} ms.`);
        return;
      }
      // oxlint-disable no-await-in-loop -- one attempt after the other
      await Promise.all(
        this.#channels.map(async (channel) => {
          for (const event of await this.#publish(channel, 1, keptEvents)) last.get(channel)?.add(event);
        }),
      );
      for (let wait = 0; wait < 100 && !this.#subscribers.every(isReached); wait += 1) await sleep(20);
      // oxlint-enable no-await-in-loop
    }
  }

  /** @returns the events that were stored */
  async #publish(channel: string, count: number, keep: number): Promise<readonly string[]> {
    const events = Array.from({ length: count }, (_, at) => String(this.#next + at));
    this.#next += count;
    const body: PublishRequest = { events, keep };
    let ids: PublishResponse = [];
    try {
      const response = await fetch(`http://127.0.0.1:${this.#cluster.anyPort()}/${channel}`, {
        method: 'POST',
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(publishTimeoutMs),
      });
      ids = (await response.json()) as PublishResponse;
    } catch {
      // The worker has ended, or does not respond.
    }
    const stored = events.filter((_, at) => typeof ids[at] === 'string');
    this.#unknown += count - stored.length;
    for (const event of stored) this.#stored.get(channel)?.add(event);
    for (const id of ids) if (id !== null) this.#ids.get(channel)?.add(id);
    return stored;
  }

  #sum(of: (subscriber: Subscriber) => number): number {
    return this.#subscribers.reduce((total, each) => total + of(each), 0);
  }
}

export async function outageTest(options: OutageOptions): Promise<OutageReport> {
  const counts: Record<string, OutageCounts> = {};
  const violations: string[] = [];
  let connections = 0;
  const runs = [
    { isSentinel: false, list: outages(options.isShort) },
    ...sentinelOutages(options.isShort).map((outage) => ({ isSentinel: true, list: [outage] })),
  ];
  const events = Math.ceil(options.events / runs.flatMap(({ list }) => list).length);
  for (const { isSentinel, list } of runs) {
    // oxlint-disable no-await-in-loop -- one cluster after the other
    const cluster = await startOutageCluster({ ...options, isSentinel });
    try {
      const test = new OutageTest(cluster, options);
      await test.withSubscribers(async () => {
        for (const outage of list) {
          counts[outage.name] = await test.runOutage(outage, events);
          if (!options.isShort)
            process.stderr.write(`${outage.name}: ${JSON.stringify(counts[outage.name])}\n`);
        }
      });
      if (options.kind === 'log') test.verify();
      connections += test.connections;
      violations.push(...test.violations);
    } finally {
      await cluster.remove();
    }
    // oxlint-enable no-await-in-loop
  }
  return { outages: counts, connections, violations };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!hasRedis) throw new Error('It needs Redis: run `.ci/redis install`.');
  const [option, peer] = process.argv.slice(2);
  if (option !== undefined && (option !== '--peer' || peer !== 'orpc'))
    throw new Error(`The arguments are ${process.argv.slice(2).join(' ')}. The one option is --peer orpc.`);
  const report = await outageTest({
    kind: option === undefined ? 'log' : 'orpc',
    events: countArgument('EVENTS', process.env['EVENTS'], 100_000),
    channels: 20,
    subscribersPerChannel: 10,
    workersPerMachine: 4,
    isShort: false,
  });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}
