/*
 * A worker of `loadTest.ts`: `node loadProcess.ts OPTIONS`, where OPTIONS is JSON. It sends `joined` when all its subscribers have
 * joined, and then one reply to each `LoadRequest`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { folderEventLog } from '../../folder.ts';

export interface LoadProcessOptions {
  readonly path: string;
  readonly name: string;
  /** How many channels there are. The worker publishes to each in turn. */
  readonly channels: number;
  /** The channel of each of its subscribers. */
  readonly subscribed: readonly number[];
  /** How many events it publishes per second. */
  readonly rate: number;
  /** How many characters an event has at least. */
  readonly size: number;
}

export type LoadRequest =
  /** Publish until `pause`. */
  | { readonly type: 'publish' }
  /** Reply with a `Measurement`. */
  | { readonly type: 'measure' }
  /** Reply with how many events were published to each channel. */
  | { readonly type: 'pause' }
  /** Reply with a `LoadResult` when the subscribers have received what all workers have published to each channel. */
  | { readonly type: 'end'; readonly published: readonly number[] };

/** What a worker has done since the last measurement. */
export interface Measurement {
  /** How many events were delivered after 0 to 0.1 ms, after 0.1 to 0.2 ms, and so on; the last after 1 s or more. */
  readonly latencies: readonly number[];
  readonly maxMs: number;
  readonly cpuMs: number;
  /** How often the process has waited, and was woken. */
  readonly wakeups: number;
  readonly rssMb: number;
}

export interface LoadResult {
  readonly delivered: number;
  /** How many events the log has rejected: the machine was overloaded. */
  readonly rejected: number;
  /** What should not happen, one sentence each. */
  readonly violations: readonly string[];
}

const latencyCount = 10_000;

/** How many events are published at the same time at most. A machine that is too slow publishes fewer. */
const maxPending = 500;

/** How long the subscribers have to receive the last events, in milliseconds. */
const endTimeoutMs = 30_000;

const options: LoadProcessOptions = JSON.parse(process.argv[2] ?? '');
const { channels, name, path, rate, size, subscribed } = options;
const log = folderEventLog({ path });
const violations: string[] = [];
const published = Array.from({ length: channels }, () => 0);
/** Events that are being published. */
const pending = new Set<Promise<void>>();
let rejected = 0;
let timer: NodeJS.Timeout | undefined;
let latencies = new Uint32Array(latencyCount);
let maxMs = 0;
let usage = process.resourceUsage();

/** The time of the machine in milliseconds, which is the same for all processes. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A subscriber, which checks that it receives the events of each publisher once and in order. */
class Subscriber {
  readonly #channel: number;
  readonly #controller = new AbortController();
  /** The number of the last event of each publisher. */
  readonly #last = new Map<string, number>();
  received = 0;
  readonly joined: Promise<void>;

  constructor(channel: number) {
    this.#channel = channel;
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    this.joined = promise;
    this.#read(resolve).catch(reject);
  }

  missing(counts: readonly number[]): number {
    return (counts[this.#channel] ?? 0) - this.received;
  }

  stop(): void {
    this.#controller.abort();
  }

  async #read(onJoined: () => void): Promise<void> {
    for await (const item of log.read(String(this.#channel), undefined, this.#controller.signal)) {
      if (item.type === 'joined') onJoined();
      else if (item.type === 'event') this.#receive(item.event);
      else violations.push(`A subscriber of channel ${this.#channel} got a resync.`);
    }
  }

  #receive(event: string): void {
    const [publisher = '', number, publishedAt] = event.split(' ', 3);
    const ms = now() - Number(publishedAt);
    const bucket = Math.min(Math.floor(ms * 10), latencyCount - 1);
    latencies[bucket] = (latencies[bucket] ?? 0) + 1;
    maxMs = Math.max(maxMs, ms);
    const last = this.#last.get(publisher) ?? -1;
    this.#last.set(publisher, Number(number));
    this.received += 1;
    if (Number(number) <= last)
      violations.push(`Event ${number} of ${publisher} arrived after event ${last}.`);
  }
}

async function publishOne(channel: number, event: string): Promise<void> {
  try {
    await log.append(String(channel), event, { events: 1000, ms: 60_000 });
    published[channel] = (published[channel] ?? 0) + 1;
  } catch {
    rejected += 1;
  }
}

function publish(): void {
  const startedAt = now();
  let count = 0;
  timer = setInterval(() => {
    for (
      const due = ((now() - startedAt) * rate) / 1000;
      count < due && pending.size < maxPending;
      count += 1
    ) {
      const channel = count % channels;
      const publishing = publishOne(channel, `${name} ${count} ${now()} `.padEnd(size, '.'));
      pending.add(publishing);
      void publishing.then(() => pending.delete(publishing));
    }
  }, 1);
}

function measure(): Measurement {
  const before = usage;
  usage = process.resourceUsage();
  const measured = {
    latencies: Array.from(latencies),
    maxMs,
    cpuMs: (usage.userCPUTime + usage.systemCPUTime - before.userCPUTime - before.systemCPUTime) / 1000,
    wakeups: usage.voluntaryContextSwitches - before.voluntaryContextSwitches,
    rssMb: process.memoryUsage.rss() / 2 ** 20,
  };
  latencies = new Uint32Array(latencyCount);
  maxMs = 0;
  return measured;
}

async function end(counts: readonly number[]): Promise<LoadResult> {
  const until = now() + endTimeoutMs;
  // oxlint-disable-next-line no-await-in-loop -- until all have arrived
  while (subscribers.some((each) => each.missing(counts) > 0) && now() < until) await sleep(10);
  for (const each of subscribers) {
    each.stop();
    const missing = each.missing(counts);
    if (missing > 0) violations.push(`A subscriber has missed ${missing} events.`);
  }
  return { delivered: subscribers.reduce((sum, { received }) => sum + received, 0), rejected, violations };
}

async function reply(request: LoadRequest): Promise<unknown> {
  if (request.type === 'publish') return publish();
  if (request.type === 'measure') return measure();
  if (request.type === 'end') return end(request.published);
  clearInterval(timer);
  await Promise.all(pending);
  return published;
}

const subscribers = subscribed.map((channel) => new Subscriber(channel));
await Promise.all(subscribers.map(({ joined }) => joined));
async function handle(request: LoadRequest): Promise<void> {
  const answer = await reply(request);
  process.send?.(answer ?? 'done');
  if (request.type !== 'end') return;
  await log.close();
  process.disconnect();
}

process.on('message', (request: LoadRequest) => void handle(request));
process.send?.('joined');
