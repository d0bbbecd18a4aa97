import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './freePort.ts';
import { startProcess } from './startProcess.ts';

export { type FaultProxy, startFaultProxy } from './faultProxy.ts';

const folder =
  process.env['REDIS_DIR'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'petstore-redis');

/** Whether `.ci/redis install` ran here. Else tests are skipped, or fail with `REQUIRE_REDIS` (`.ci/run`). */
export const hasRedis: boolean = existsSync(join(folder, 'installed'));
if (!hasRedis && process.env['REQUIRE_REDIS'] !== undefined) {
  throw new Error(`REQUIRE_REDIS is set, but ${folder} has no Redis. Run \`.ci/redis install\`.`);
}

export type RedisProcess = Awaited<ReturnType<typeof startOf>>;

/** Starts Redis; acknowledged commands survive SIGKILL. @param options such as `['--appendonly', 'no']` */
export const startRedis = (options: readonly string[] = []): Promise<RedisProcess> =>
  startOf('redis-server', async () => ['--appendonly', 'yes', '--save', '', ...options]);

const startReplica = ({ port }: RedisProcess): Promise<RedisProcess> =>
  startRedis(['--replicaof', `127.0.0.1 ${port}`, '--repl-diskless-sync-delay', '0']);

/** Starts a Sentinel that replaces the server, as the group `tests`, half a second after it has stopped to respond. */
const startSentinel = ({ port }: RedisProcess): Promise<RedisProcess> =>
  startOf('redis-sentinel', async (path) => {
    const file = join(path, 'sentinel.conf');
    const lines = [
      `sentinel monitor tests 127.0.0.1 ${port} 1`,
      'sentinel down-after-milliseconds tests 500',
      'sentinel failover-timeout tests 3000',
    ];
    await writeFile(file, `${lines.join('\n')}\n`);
    return [file];
  });

/** Starts a server, a replica of it that has all its keys, and a Sentinel that knows both. */
export async function startRedisGroup() {
  const server = await startRedis();
  const replica = await startReplica(server);
  await until(async () => (await server.command('WAIT', '1', '100')) === ':1');
  const sentinel = await startSentinel(server);
  await until(async () => (await sentinel.command('SENTINEL', 'REPLICAS', 'tests')) === '*1');
  return {
    server,
    replica,
    sentinel,
    remove: async () => {
      await Promise.all([sentinel, replica, server].map((each) => each.remove()));
    },
  };
}

/** Starts a cluster of two servers, each with half of the slots. */
export async function startRedisCluster() {
  // Its own choice, the port + 10000, may be one that a connection of another test has just left.
  const buses = [await freePort(), await freePort()].map(String) as [string, string];
  const start = (bus: string) => startRedis(['--cluster-enabled', 'yes', '--cluster-port', bus]);
  const [one, other] = await Promise.all([start(buses[0]), start(buses[1])]);
  await one.command('CLUSTER', 'ADDSLOTSRANGE', '0', '8191');
  await other.command('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383');
  await one.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port), buses[1]);
  // The slots of the key: 15495 of `a`, 3300 of `b`.
  await until(
    async () => (await other.command('DEL', 'a')) === ':0' && (await one.command('DEL', 'b')) === ':0',
  );
  await until(async () => (await one.command('DEL', 'a')).startsWith('-MOVED'));
  const servers = [one, other];
  return {
    servers,
    remove: async () => {
      await Promise.all(servers.map((each) => each.remove()));
    },
  };
}

/** A Sentinel learns of replicas within 10 s, and a cluster of its slots within seconds. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue().catch(() => false))) await sleep(20);
}

/** Starts a Redis server or Sentinel of a test, on a free port of this machine. */
async function startOf(program: string, optionsIn: (path: string) => Promise<readonly string[]>) {
  const path = await mkdtemp(join(tmpdir(), 'redis-'));
  const options = await optionsIn(path);
  const port = await freePort();
  const log = join(path, 'log');
  let child: ChildProcess | undefined;

  /** Sends a command. @returns the first line of the reply, such as `+OK` */
  const command = async (...words: readonly string[]): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`);
    try {
      const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(2000) })) as [Buffer];
      return chunk.toString().split('\r\n', 1)[0] ?? '';
    } finally {
      socket.destroy();
    }
  };
  /** Ends it (SIGKILL). */
  const kill = async () => {
    if (child === undefined) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    child = undefined;
  };
  /** Starts it again after `kill`, with the files that it had written. */
  const start = async () => {
    const own = ['--bind', '127.0.0.1', '--port', String(port), '--dir', path, '--logfile', log];
    const started = startProcess(join(folder, 'bin', program), [...options, ...own], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child = started;
    while ((await command('PING').catch(() => '')) !== '+PONG') {
      if (started.exitCode !== null) throw new Error(`${program} has ended: ${await readFile(log, 'utf8')}`);
      await sleep(10);
    }
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** Suspends it (SIGSTOP): its connections stay open, and nothing is answered. */
    freeze: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    kill,
    start,
    command,
    /** Ends it and removes its files. */
    remove: async () => {
      await kill();
      await rm(path, { recursive: true, force: true });
    },
  };
}
