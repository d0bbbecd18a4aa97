import { LiveCalls } from './liveCalls.ts';
import { createRpcRouter, seenInfo } from './rpcRouter.ts';
import type { ServeRpc } from './rpcServer.ts';

// The server process started by `startRpcProcess`. It sends its port, then a report in reply to each message.

/** Memory, CPU time and calls of the server process. */
export interface Report {
  /** Resident memory in bytes, after a garbage collection. */
  readonly rss: number;
  /** JavaScript's heap and external memory in bytes. */
  readonly heap: number;
  /** CPU time used so far, in milliseconds. */
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
if (load === undefined) throw new Error('The first argument must be "official" or "gateway".');
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
// The parent process has exited.
process.on('disconnect', () => process.exit());
process.send?.(port);
