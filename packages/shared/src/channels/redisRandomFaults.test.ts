import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { countArgument } from '@petstore/testing/countArgument';
import {
  type FaultProxy,
  hasRedis,
  type RedisProcess,
  startFaultProxy,
  startRedis,
} from '@petstore/testing/redis';
import { createClient } from 'redis';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { LogItem } from '../events/eventLog.ts';
import { partsOf } from '../runs/runLog.ts';
import { openRedisLog } from '../events/testing/collect.ts';
import { eventClients, serveEvents } from './testing/eventClients.ts';
import { Journey } from '../events/testing/journey.ts';

const channels = ['a', 'b'] as const;

const isLong = process.env['PETSTORE_TESTS'] === 'long';

/** How many faults are injected, and how many clients of each kind there are. */
const rounds = countArgument('ROUNDS', process.env['ROUNDS'], isLong ? 50 : 10);
const clientsPerKind = countArgument('CLIENTS', process.env['CLIENTS'], isLong ? 200 : 4);

/** How many seconds an outage takes at most. */
const maxSeconds = countArgument('SECONDS', process.env['SECONDS'], isLong ? 60 : 2);

/** How long an impatient client stays connected, in milliseconds at most. */
const stayMs = isLong ? 30_000 : 5000;

/** The pause of a writer between its events, in milliseconds at most. */
const writerPauseMs = isLong ? 20_000 : 5;

type Service = Awaited<ReturnType<typeof serveEvents>>;

/**
 * A client that leaves at random and returns to another service, with the id that it has or as a new one, until it has received
 * `end`. Every third leaves only after some events: if its connection dies, it receives nothing any more.
 */
class Traveler {
  /** One for each time that it was a new client. */
  readonly journeys = [new Journey()];
  hasEnded = false;
  /** Where it has connected last, and when, for messages. */
  connection = '';
  violation: unknown = undefined;
  /** When it has received the last event or `resync` (`performance.now()`). */
  receivedAt = 0;
  readonly #named: Map<string, string>;

  /** @param named the events of the channel by their ids */
  constructor(named: Map<string, string>) {
    this.#named = named;
  }

  async run(services: readonly Service[], kind: string, key: string, isPatient: boolean): Promise<void> {
    while (!this.hasEnded) {
      // oxlint-disable no-await-in-loop -- one connection after the other
      const leaving = new AbortController();
      const timer = isPatient ? undefined : setTimeout(() => leaving.abort(), randomInt(stayMs));
      let left = isPatient ? randomInt(1, 500) : Infinity;
      if (randomInt(20) === 0) this.journeys.push(new Journey());
      const origin = services[randomInt(services.length)]?.origin ?? '';
      this.connection = `${kind} at ${origin}, ${Math.round(performance.now())} ms`;
      await eventClients[kind]?.({
        origin,
        input: { key, lastEventId: this.journeys.at(-1)?.id },
        signal: leaving.signal,
        onItem: (item) => {
          if (leaving.signal.aborted) return;
          this.#add(item);
          left -= 1;
          if (left <= 0 || this.hasEnded) leaving.abort();
        },
      }).catch(() => {});
      clearTimeout(timer);
      await sleep(randomInt(100));
      // oxlint-enable no-await-in-loop
    }
  }

  #add(item: LogItem): void {
    const journey = this.journeys.at(-1) ?? new Journey();
    this.receivedAt = performance.now();
    try {
      if (journey.id === undefined) {
        const { epoch, sequence } = partsOf(item.id);
        journey.add({ type: 'joined', id: item.type === 'event' ? `${epoch}-${sequence - 1}` : item.id });
        if (item.type !== 'event') return;
      }
      journey.add(item);
      if (item.type !== 'event') return;
      const named = this.#named.get(item.id) ?? item.event;
      if (named !== item.event) throw new Error(`${item.id} is ${named} and ${item.event}.`);
      this.#named.set(item.id, item.event);
      this.hasEnded = item.event === 'end';
    } catch (error) {
      this.violation ??= error;
    }
  }
}

/** Outages. Each resolves when Redis responds again, with whether events may be lost. */
const faults = (server: RedisProcess, proxies: readonly FaultProxy[]) => {
  const last = () => sleep(randomInt(maxSeconds * 1000));
  const cut = (kind: 'freeze' | 'reject') => async () => {
    // One of the services, or all.
    const cutProxies = randomInt(2) === 0 ? proxies : proxies.slice(0, 1);
    for (const proxy of cutProxies) proxy.set({ kind });
    await last();
    for (const proxy of cutProxies) proxy.set({ kind: 'none' });
    return false;
  };
  return [
    cut('freeze'),
    cut('reject'),
    async () => {
      server.freeze();
      await last();
      server.resume();
      return false;
    },
    async () => {
      await server.kill();
      await last();
      await server.start();
      return true;
    },
    async () => {
      await server.command('FLUSHALL');
      return true;
    },
  ];
};

it.skipIf(!hasRedis)(
  'clients that leave and return at random get every event once and in order, or one resync, and none stays without events, while connections are cut and Redis is suspended, killed and emptied at random',
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy(server.url)));
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const prefix = randomUUID();
    const services = await Promise.all(
      proxies.map(({ uri }) => serveEvents(openRedisLog(() => createClient({ url: uri }), prefix))),
    );
    const named = channels.map(() => new Map<string, string>());
    const acknowledged = channels.map(() => new Set<string>());
    const writing = new AbortController();
    const publish = async (service: number, channel: number, event: string): Promise<void> => {
      const id = await services[service % services.length]?.channel.publish(channels[channel] ?? '', event);
      acknowledged[channel]?.add(id ?? '');
    };
    const write = async (_service: unknown, writer: number): Promise<void> => {
      for (let at = 0; !writing.signal.aborted; at += 1) {
        // oxlint-disable no-await-in-loop -- at most four at once
        await Promise.allSettled(
          [0, 0, 1, 1].map((channel, part) => publish(writer, channel, `${writer}:${at}:${part}`)),
        );
        await sleep(randomInt(writerPauseMs));
        // oxlint-enable no-await-in-loop
      }
    };
    const writers = services.map(write);
    const kinds = Object.keys(eventClients);
    const travelers = Array.from({ length: kinds.length * clientsPerKind }, (_, at) => {
      const channel = Math.floor(at / kinds.length) % 2;
      const traveler = new Traveler(named[channel] ?? new Map());
      const ended = traveler.run(
        services,
        kinds[at % kinds.length] ?? '',
        channels[channel] ?? '',
        at % 3 === 0,
      );
      return { channel, ended, traveler };
    });
    const connectionsOf = (isLate: (traveler: Traveler) => boolean) =>
      travelers.flatMap(({ traveler }) => (isLate(traveler) ? traveler.connection : []));
    const all = faults(server, proxies);
    let losses = 0;
    for (let round = 1; round <= rounds; round += 1) {
      // oxlint-disable no-await-in-loop -- one after the other
      losses += Number(await all[randomInt(all.length)]?.());
      const over = performance.now();
      let last: string | undefined;
      await vi.waitFor(
        async () => {
          await Promise.all([0, 1].map((channel) => publish(round, channel, `after ${round}`)));
          const late = connectionsOf(({ receivedAt }) => receivedAt < over);
          last = late[0] ?? last;
          expect(late).toEqual([]);
        },
        { timeout: 60_000, interval: 500 },
      );
      const waited = Math.round(performance.now() - over);
      if (isLong)
        process.stderr.write(`round ${round}: each has received after ${waited} ms, last ${last}\n`);
      // oxlint-enable no-await-in-loop
    }
    writing.abort();
    await Promise.all(writers);
    // Again for those that have become new clients meanwhile.
    await vi.waitFor(
      async () => {
        await Promise.all([0, 1].map((channel) => publish(0, channel, 'end')));
        expect(connectionsOf(({ hasEnded }) => !hasEnded)).toEqual([]);
      },
      { timeout: 60_000, interval: 500 },
    );
    await Promise.all(travelers.map(({ ended }) => ended));
    for (const { channel, traveler } of travelers) {
      expect(traveler.violation).toBeUndefined();
      for (const journey of traveler.journeys) {
        journey.verify(new Set([...(acknowledged[channel] ?? []), ...(named[channel]?.keys() ?? [])]));
        expect(journey.resyncCount).toBeLessThanOrEqual(losses);
      }
    }
  },
  rounds * (maxSeconds + 60) * 1000,
);
