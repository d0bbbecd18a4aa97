import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runtimesToTest } from '@petstore/testing/runtimes';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Adapter, adapterOfRun } from '../adapters.ts';
import type { FlooderMessage } from './flooder.ts';
import { type Flood, type FloodName, floods } from './floodKinds.ts';
import { type Pinned, startPinned } from './pinned.ts';
import type { Target } from './target.ts';

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const adapter = adapterOfRun();
/** Bun runs beside the first adapter, from Node: Vitest on Bun cannot start processes. */
const bun = adapter === 'uws' ? runtimesToTest('bun') : [];
const servers: readonly (readonly [adapter: Adapter, executable: string])[] = [
  ...(adapter === 'fetch' ? [] : [[adapter, process.execPath] as const]),
  ...bun.map(({ executable }) => ['bun', executable] as const),
];

/** The longest allowed wait of another client, in milliseconds, and the largest allowed growth of the resident memory. */
const maxWaitMs = 2000;
const maxGrowthBytes = 100 * 1024 * 1024;

/** The clients, in another process than the server. */
let flooder: Pinned;
beforeAll(() => {
  flooder = startPinned(1, fileOf('flooder.ts'));
  return () => flooder.stop();
});

describe.each(servers)('on %s', (name, executable) => {
  it.each(Object.keys(floods) as FloodName[])(
    'other clients are served, and the process grows by at most 100 MB: %s',
    async (flood) => {
      const server = startPinned(0, fileOf('target.ts'), { ADAPTER: name }, executable);
      onTestFinished(() => server.stop());
      const { port } = await server.call<Target>({});
      const before = await server.rss();
      let peak = before;
      const watch = setInterval(() => void server.rss().then((rss) => (peak = Math.max(peak, rss))), 100);
      onTestFinished(() => clearInterval(watch));
      // Those that pause between two blocks do something only after a time.
      const { pauseMs }: Flood = floods[flood];
      const message: FlooderMessage = { port, flood, seconds: pauseMs === undefined ? 0.5 : 3 };
      const { unanswered, worstWaitMs } = await visitHealth(port, flooder.call(message));
      expect(unanswered).toBe(0);
      expect(worstWaitMs).toBeLessThan(maxWaitMs);
      expect(peak - before).toBeLessThan(maxGrowthBytes);
    },
  );
});

/** Requests `/healthz` until a promise settles. Returns the longest wait and the number of failures. */
async function visitHealth(port: number, until: Promise<unknown>) {
  let worstWaitMs = 0;
  let unanswered = 0;
  const state = { isFinished: false };
  const finished = until.then(() => (state.isFinished = true));
  while (!state.isFinished) {
    const begun = performance.now();
    const signal = AbortSignal.timeout(maxWaitMs);
    const response = await fetch(`http://127.0.0.1:${port}/healthz`, { signal }).catch(() => undefined);
    if (response?.status !== 200) unanswered += 1;
    await response?.text();
    worstWaitMs = Math.max(worstWaitMs, performance.now() - begun);
    await sleep(10);
  }
  await finished;
  return { worstWaitMs, unanswered };
}
