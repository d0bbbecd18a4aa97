import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  type FaultProxy,
  type RedisProcess,
  startFaultProxy,
  startRedis,
  startRedisGroup,
} from '@petstore/testing/redis';
import { startProcess } from '@petstore/testing/startProcess';
import type { OutageLogOptions } from './outageLog.ts';

const workerFile = fileURLToPath(new URL('outageWorker.ts', import.meta.url));

/** A process that publishes and serves subscribers. */
class Worker {
  /** Where it serves; undefined while it starts. */
  port: number | undefined = undefined;
  readonly #options: OutageLogOptions;
  #child: ChildProcess | undefined = undefined;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const args = ['--conditions=trpc-gateway-source', workerFile, JSON.stringify(this.#options)];
    const child = startProcess(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child = child;
    [this.port] = (await once(child, 'message')) as [number];
  }

  /** Ends it (SIGKILL). */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.port = undefined;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Suspends it (SIGSTOP). */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }
}

/** The workers of two machines, which share a Redis. */
export interface OutageCluster {
  readonly server: RedisProcess;
  /** Between each machine and Redis; none with Sentinel, whose clients connect to the address that it names. */
  readonly proxies: readonly FaultProxy[];
  readonly workers: readonly Worker[];
  /** The port of any worker that runs; 0 if there is none. */
  readonly anyPort: () => number;
  readonly remove: () => Promise<void>;
}

interface ClusterOptions {
  readonly kind: OutageLogOptions['kind'];
  readonly workersPerMachine: number;
  /** Whether Sentinel replaces the server when it fails. */
  readonly isSentinel: boolean;
}

export async function startOutageCluster(options: ClusterOptions): Promise<OutageCluster> {
  const { isSentinel, kind, workersPerMachine } = options;
  const group = isSentinel ? await startRedisGroup() : undefined;
  const server = group?.server ?? (await startRedis());
  const machines = [1, 2];
  const proxies = isSentinel ? [] : await Promise.all(machines.map(() => startFaultProxy(server.url)));
  const ports = proxies.map(({ uri }) => Number(new URL(uri).port));
  const workers = machines.flatMap((_, machine) =>
    Array.from(
      { length: workersPerMachine },
      () => new Worker({ kind, isSentinel, port: ports[machine] ?? group?.sentinel.port ?? 0 }),
    ),
  );
  await Promise.all(workers.map((worker) => worker.start()));
  return {
    server,
    proxies,
    workers,
    anyPort() {
      const running = workers.flatMap(({ port }) => port ?? []);
      return running[Math.floor(Math.random() * running.length)] ?? 0;
    },
    async remove() {
      await Promise.all(workers.map((worker) => worker.kill()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await (group ?? server).remove();
    },
  };
}
