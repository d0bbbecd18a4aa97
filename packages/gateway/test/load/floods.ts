/**
 * Floods a server on few connections, from a separate process, and measures the longest wait of another client for
 * `/healthz`. `npm run test:floods -w @petstore/server` measures the pet store's process.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Flooded, FlooderMessage } from './flooder.ts';
import { type Flood, type FloodName, floods } from './floodKinds.ts';
import type { StartUnderLoad, UnderLoad } from './petsUnderLoad.ts';
import { megabytes, startPinned } from './pinned.ts';

const floodNames = Object.keys(floods) as FloodName[];
/** The floods that do something in the time of `briefFloods`: those that pause between two blocks need seconds. */
export const briefFloodNames = floodNames.filter((name) => (floods[name] as Flood).pauseMs === undefined);

const flooderFile = fileURLToPath(new URL('flooder.ts', import.meta.url));
/** Wait after which `/healthz` counts as not answered. */
const longestWaitMs = 10_000;
const healthRequest = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

interface Options {
  readonly seconds: number;
  /** The longest allowed wait of the other client, in milliseconds. */
  readonly maxWaitMs: number;
}

export const fullFloods: Options = { seconds: 6, maxWaitMs: 250 };
/** Short floods with wide limits, for the test suite. */
export const briefFloods: Options = { seconds: 0.5, maxWaitMs: 2000 };

/** The largest allowed growth of the resident memory. */
const maxGrowthBytes = 100 * 1024 * 1024;

/** Measures all floods, one after another. */
export async function measureFloods(start: StartUnderLoad, options: Options) {
  const allProblems: string[] = [];
  const allMeasured: Record<string, object> = {};
  for (const name of floodNames) {
    const { measured, problems } = await measureFlood(start, name, options);
    allMeasured[name] = measured;
    allProblems.push(...problems);
  }
  return { measured: allMeasured, problems: allProblems };
}

export async function measureFlood(start: StartUnderLoad, name: FloodName, { seconds, maxWaitMs }: Options) {
  const problems: string[] = [];
  // A new server for each flood, so that one does not influence the next.
  const server = await start();
  const flooder = startPinned(1, flooderFile);
  try {
    const measured = await measure(server, flooder, { port: server.port, flood: name, seconds });
    if (measured.worstWaitMs > maxWaitMs) problems.push(`${name}: /healthz took ${measured.worstWaitMs} ms`);
    if (measured.unanswered > 0) {
      problems.push(`${name}: connections of /healthz ended without a response ${measured.unanswered} times`);
    }
    if (measured.grownMB * 1024 * 1024 > maxGrowthBytes) {
      problems.push(`${name}: the server grew by ${measured.grownMB} MB`);
    }
    return { measured, problems };
  } finally {
    await flooder.stop();
    await server.stop();
  }
}

async function measure(server: UnderLoad, flooder: ReturnType<typeof startPinned>, message: FlooderMessage) {
  const quiet = await visitHealth(server.port, sleep(500));
  const before = await server.rss();
  const cpuBefore = await server.cpuMs();
  let peak = before;
  const watch = setInterval(() => void server.rss().then((rss) => (peak = Math.max(peak, rss))), 100);
  const flooding = flooder.call<Flooded>(message);
  const flooded = await visitHealth(server.port, flooding);
  const { bytesSent, closed } = await flooding;
  clearInterval(watch);
  return {
    sentMB: megabytes(bytesSent),
    closed,
    quietWorstWaitMs: quiet.worstWaitMs,
    worstWaitMs: flooded.worstWaitMs,
    unanswered: quiet.unanswered + flooded.unanswered,
    cpuMs: (await server.cpuMs()) - cpuBefore,
    rssBeforeMB: megabytes(before),
    grownMB: megabytes(peak - before),
  };
}

/**
 * Requests `/healthz` repeatedly until a promise settles. Returns the longest wait and the number of requests without a
 * response.
 */
async function visitHealth(port: number, until: Promise<unknown>) {
  let worst = 0;
  let unanswered = 0;
  const state = { isFinished: false };
  void until.then(() => (state.isFinished = true));
  let socket: Socket | undefined;
  while (!state.isFinished) {
    const begun = performance.now();
    if (socket === undefined || socket.destroyed) {
      socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
    }
    socket.write(healthRequest);
    const response = new AbortController();
    const { signal } = response;
    const hasResponse = await Promise.race([
      once(socket, 'data', { signal }).then(() => true),
      once(socket, 'close', { signal }).then(() => false),
      sleep(longestWaitMs, false, { signal }),
    ]).catch(() => false);
    response.abort();
    if (!hasResponse) {
      unanswered += 1;
      socket.destroy();
    }
    worst = Math.max(worst, performance.now() - begun);
    await sleep(10);
  }
  socket?.destroy();
  return { worstWaitMs: Math.round(worst), unanswered };
}
