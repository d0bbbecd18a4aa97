import { setTimeout as sleep } from 'node:timers/promises';
import {
  createTRPCClient,
  createWSClient,
  httpSubscriptionLink,
  wsLink,
  type TRPCClient,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import { WebSocket } from 'ws';
import type { Measured } from '../load/levels.ts';
import { runCommand } from './commandLine.ts';
import { rawRequest, rawSocket } from './rawHttp.ts';
import { megabytes, startRpcProcess, type Subject } from './startRpcProcess.ts';
import { frame } from './webSocketFrame.ts';
import { probe } from './webSocketProbe.ts';
import type { RpcRouter } from './rpcRouter.ts';

interface SoakOptions {
  readonly subject: Subject;
  /** Number of SSE clients and of WebSocket clients. One client in ten does not read. */
  readonly clients: number;
  readonly seconds: number;
  /** Event size in bytes for clients that do not read. It must overflow the system's socket buffers within `seconds`. */
  readonly stalledBytes: number;
}

export const shortSoak = { clients: 50, seconds: 3, stalledBytes: 900_000 } as const;
const longSoak = { clients: 1000, seconds: 300, stalledBytes: 32_768 } as const;

const everyMs = 100;

/** Counts the events of one client. They are numbered from 1, so a gap is a lost event. */
class Reader {
  received = 0;
  lost = 0;
  reconnects = -1;
  worstLagMs = 0;
  error: unknown;

  read({ n, at }: { readonly n: number; readonly at: number }): void {
    if (n !== this.received + 1) this.lost += 1;
    this.received = n;
    this.worstLagMs = Math.max(this.worstLagMs, Date.now() - at);
  }
}

/**
 * Runs many concurrent subscriptions with ten events a second each, while one client in ten does not read. Reports lost
 * events, slow or disconnected readers, and growing memory.
 *
 * Memory is flat if the mean of the last third of the samples is at most 10 % or 24 MB above the mean of the second third;
 * the first third is the warm-up. Each sample is taken after a garbage collection.
 */
export async function soak({ subject, clients, seconds, stalledBytes }: SoakOptions): Promise<Measured> {
  const server = await startRpcProcess(subject);
  const problems: string[] = [];
  const close: (() => unknown)[] = [];
  try {
    const atStart = await server.report();
    const readers: Reader[] = [];
    for (let index = 0; index < clients; index += 1) {
      if (index % 10 === 9) {
        close.push(stalledEvents(server.port, stalledBytes));
        close.push(await stalledSocket(server.port, stalledBytes));
      } else {
        for (const connect of [readEvents, readSocket]) {
          const reader = new Reader();
          readers.push(reader);
          close.push(connect(server.port, reader));
        }
      }
      if (index % 25 === 24) await sleep(20);
    }
    await until(async () => (await server.report()).liveCalls === 2 * clients);
    const atFull = await server.report();
    if (atFull.liveCalls !== 2 * clients)
      problems.push(`only ${atFull.liveCalls} of ${2 * clients} subscriptions started`);

    const eventsBefore = readers.map(({ received }) => received);
    const samples: number[] = [];
    const count = Math.max(9, Math.min(90, seconds));
    for (let sample = 0; sample < count; sample += 1) {
      await sleep((seconds * 1000) / count);
      samples.push((await server.report()).rss);
    }
    const { liveCalls: stillOpen, cpuMs } = await server.report();
    const counts = readers
      .map(({ received }, index) => received - (eventsBefore[index] ?? 0))
      .toSorted((a, b) => a - b);
    await Promise.all(close.map((end) => end()));
    await until(async () => (await server.report()).liveCalls === 0);
    const atEnd = await server.report();
    const [middle, last] = [
      mean(samples.slice(count / 3, (2 * count) / 3)),
      mean(samples.slice((2 * count) / 3)),
    ];

    const lost = readers.reduce((sum, reader) => sum + reader.lost, 0);
    const median = counts[Math.floor(counts.length / 2)] ?? 0;
    const events = counts.reduce((sum, received) => sum + received, 0);
    const slow = counts.filter((received) => received < median / 2 || received === 0).length;
    const broken = readers.filter(({ reconnects, error }) => reconnects > 0 || error !== undefined);
    if (lost > 0) problems.push(`${lost} events were lost`);
    if (slow > 0) problems.push(`${slow} readers received fewer than half of the median number of events`);
    if (broken.length > 0)
      problems.push(`${broken.length} readers were disconnected: ${String(broken[0]?.error)}`);
    if (last > middle + Math.max(0.1 * middle, 24 * 1_048_576))
      problems.push(`resident memory grew from ${megabytes(middle)} to ${megabytes(last)} MB`);
    if (atEnd.liveCalls > 0)
      problems.push(`${atEnd.liveCalls} calls are still running after their clients disconnected`);

    return {
      measured: {
        subject,
        subscriptions: 2 * clients,
        notReading: 2 * Math.floor(clients / 10),
        stillOpen,
        seconds,
        events,
        eventsPerReader: { least: counts[0], median, most: counts.at(-1) },
        cpuMicrosecondsPerEvent: Math.round(((cpuMs - atFull.cpuMs) * 1000) / events),
        lost,
        worstLagMs: Math.max(...readers.map(({ worstLagMs }) => worstLagMs)),
        rssMB: {
          start: megabytes(atStart.rss),
          connected: megabytes(atFull.rss),
          middle: megabytes(middle),
          last: megabytes(last),
          highest: megabytes(Math.max(...samples)),
          afterwards: megabytes(atEnd.rss),
        },
      },
      problems,
    };
  } finally {
    await server.stop();
  }
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

async function until(condition: () => Promise<boolean>, ms = 15_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition()) && performance.now() < end) await sleep(50);
}

function subscribe(trpc: TRPCClient<RpcRouter>, reader: Reader): () => void {
  const subscription = trpc.ticks.subscribe(
    { everyMs },
    {
      onData: ({ data }) => reader.read(data),
      onStarted: () => {
        reader.reconnects += 1;
      },
      onError: (error) => {
        reader.error = error;
      },
    },
  );
  return () => subscription.unsubscribe();
}

function readEvents(port: number, reader: Reader): () => void {
  const link = httpSubscriptionLink({ url: `http://127.0.0.1:${port}/trpc`, EventSource });
  return subscribe(createTRPCClient<RpcRouter>({ links: [link] }), reader);
}

function readSocket(port: number, reader: Reader): () => Promise<void> {
  const client = createWSClient({
    url: `ws://127.0.0.1:${port}/trpc`,
    // The class of `ws` is compatible with the browser's; only the event types differ.
    WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
  });
  const unsubscribe = subscribe(createTRPCClient<RpcRouter>({ links: [wsLink({ client })] }), reader);
  return () => {
    unsubscribe();
    return client.close();
  };
}

/** Subscribes over SSE and never reads. Returns a function that closes the connection. */
function stalledEvents(port: number, bytes: number): () => void {
  const input = encodeURIComponent(JSON.stringify({ everyMs, bytes }));
  const socket = rawSocket(port, rawRequest(`/trpc/ticks?input=${input}`));
  socket.pause();
  return () => {
    socket.destroy();
  };
}

async function stalledSocket(port: number, bytes: number): Promise<() => void> {
  const { socket } = await probe(port);
  socket.pause();
  const params = { path: 'ticks', input: { everyMs, bytes } };
  socket.write(frame(JSON.stringify({ id: 1, method: 'subscription', params })));
  return () => {
    socket.destroy();
  };
}

await runCommand(import.meta, ({ subject, isLong }) => soak({ subject, ...(isLong ? longSoak : shortSoak) }));
