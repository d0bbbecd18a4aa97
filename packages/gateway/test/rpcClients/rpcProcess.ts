import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter, seenInfo } from './rpcRouter.ts';
import type { ServeRpc } from './rpcServer.ts';

// A server in a process of its own: started by `startRpcProcess`, it says its port and then reports when asked.

/** What it says of itself. */
export interface Report {
  /** Resident memory in bytes, after the garbage was collected. */
  readonly rss: number;
  /** What of it JavaScript holds, and what it holds outside its heap, in bytes. */
  readonly heap: number;
  /** The processor's time that it has used so far, in milliseconds. */
  readonly cpuMs: number;
  readonly liveCalls: number;
  readonly callsSoFar: number;
}

const serveAs: Record<string, () => Promise<ServeRpc>> = {
  official: async () => (await import('./officialServer.ts')).serveOfficial,
  gateway: async () => {
    const [{ gatewayOn }, { listen }] = await Promise.all([
      import('./gatewayServer.ts'),
      import('../listen.ts'),
    ]);
    return gatewayOn(listen);
  },
};

const calls = new LiveCalls();
const load = serveAs[process.argv[2] ?? ''];
if (load === undefined) throw new Error('Which server? official or gateway');
const serve = await load();
const { port } = await serve({
  router: createRpcRouter(),
  createContext: (info) => ({ calls, seen: seenInfo(info) }),
});

process.on('message', () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({
    rss,
    heap: heapUsed + external,
    cpuMs: (user + system) / 1000,
    liveCalls: calls.count,
    callsSoFar: calls.total,
  } satisfies Report);
});
// Whoever started it is gone.
process.on('disconnect', () => process.exit());
process.send?.(port);
