import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from '@petstore/testing/drain';
import { freePort } from '@petstore/testing/freePort';
import { measured, slowness } from '@petstore/testing/slowness';
import { describe, expect, test, vi } from 'vitest';
import { namesIn } from '../testing/namesIn.ts';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { workersOf } from '../testing/petStoreProcess.ts';
import { createHead } from '../testing/petCalls.ts';

// The long form: `npm run test:long -w @petstore/server`.
const isLong = process.env['PETSTORE_TESTS'] === 'long';
const rounds = isLong ? 200 : 3;

/** Node prints this when the process has a listener of SIGTERM. Before, while Node starts, the signal ends the process. */
const caught = 'catches SIGTERM';
const reportCaught = `process.on('newListener', (name) => name === 'SIGTERM' && setImmediate(() => process.stderr.write('${caught}')));`;

interface Calls {
  /** Names of animals whose create was answered. */
  readonly created: string[];
  /** Calls without a response on connections on which an earlier call had one. */
  unanswered: number;
}

/** Opens one connection after the other, and creates animals on it until it closes. */
async function createAnimals(port: number, client: number, signal: AbortSignal, calls: Calls): Promise<void> {
  for (let count = 0; !signal.aborted;) {
    const connection = new HttpConnection(`http://127.0.0.1:${port}`);
    for (let isFirst = true; ; isFirst = false) {
      const name = `${client} ${count++}`;
      const body = JSON.stringify({ name, categoryId: 1 });
      const response = await connection.call(createHead(body.length) + body);
      if (!('status' in response)) {
        // On a new connection: rejected, or reset in the queue of the port before a process accepted it.
        if (!isFirst) calls.unanswered += 1;
        break;
      }
      if (response.status === 201) calls.created.push(name);
      if (response.closes) break;
    }
    connection.end();
    await sleep(1);
  }
}

/** Returns the ids of the running processes with a data folder in their environment. */
const processesOf = (dataDir: string): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(`DATA_DIR=${dataDir}\0`);
    } catch {
      // No process, or one that has ended.
      return false;
    }
  });

/** Starts the service, sends SIGTERM after a delay, and returns what came of it. */
async function stopAfter(delayMs: number) {
  const { start, dataDir } = await newFolder();
  const port = await freePort();
  const env = { API_KEY: apiKey, WORKERS: '4', PORT: String(port) };
  const server = start({ env, nodeArgs: [`--import=data:text/javascript,${reportCaught}`] });
  await vi.waitFor(() => expect(server.stderr()).toContain(caught), { interval: 5 });
  const calls: Calls = { created: [], unanswered: 0 };
  const done = new AbortController();
  const clients = Array.from({ length: 4 }, (_, client) => createAnimals(port, client, done.signal, calls));
  await sleep(delayMs);
  const serving = workersOf(server).length;
  let living: string[] | undefined;
  server.child.once('exit', () => (living = processesOf(dataDir)));
  server.child.kill('SIGTERM');
  const stoppedAt = performance.now();
  const exit = await server.exited;
  const exitMs = performance.now() - stoppedAt;
  done.abort();
  await Promise.all(clients);
  const stored = calls.created.length === 0 ? new Map() : await namesIn(dataDir);
  const lost = calls.created.filter((name) => stored.get(name) !== 1).length;
  return { exit, exitMs, living, serving, unanswered: calls.unanswered, lost, created: calls.created.length };
}

// Only Linux distributes the connections of a port.
describe.runIf(process.platform === 'linux')('SIGTERM during a start with WORKERS=4', () => {
  test(
    `SIGTERM at ${rounds} random moments of a start ends it within 10 s with code 0, leaves no worker and loses no call`,
    { timeout: rounds * 60_000 * slowness },
    async ({ annotate }) => {
      const { serve } = await newFolder();
      const since = performance.now();
      await (await serve({ env: { API_KEY: apiKey, WORKERS: '4' } })).stop();
      const wholeMs = performance.now() - since;
      const results: Awaited<ReturnType<typeof stopAfter>>[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const result = await stopAfter(Math.random() * wholeMs);
        expect(result).toMatchObject({
          exit: { code: 0, signal: null },
          living: [],
          unanswered: 0,
          lost: 0,
        });
        expect(measured(result.exitMs)).toBeLessThan(10_000);
        results.push(result);
      }
      const serving = [0, 1, 2, 3, 4].map((count) => results.filter((each) => each.serving === count).length);
      const figures =
        `${rounds} starts, stopped while 0, 1, 2, 3, 4 workers served: ${serving.join()} times; exit after at most ` +
        `${Math.max(...results.map(({ exitMs }) => exitMs)).toFixed(0)} ms; ` +
        `${results.reduce((sum, { created }) => sum + created, 0)} creates answered, all of them stored`;
      await annotate(figures);
      if (isLong) process.stdout.write(`${figures}\n`);
    },
  );
});
