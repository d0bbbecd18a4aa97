import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultProxy } from '@petstore/testing/mongodb';
import type { RedisProcess } from '@petstore/testing/redis';
import { startProcess } from '@petstore/testing/startProcess';

/** A fault of a state. `begin` resolves when it has begun, with a function that ends it. */
export interface StateFault {
  readonly name: string;
  readonly begin: () => Promise<() => Promise<void>>;
}

const random = (below: number) => Math.floor(Math.random() * below);

/** Attaches strace to a process to inject faults into a system call. @returns a function that detaches it */
export async function attachStrace(
  pid: number,
  output: string,
  call: string,
  effect: string,
): Promise<() => Promise<void>> {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:${effect}`];
  const tracer = startProcess('strace', ['-f', '-s', '0', '-o', output, '-p', String(pid), ...inject], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(tracer.stderr ?? tracer, 'data');
  return async () => {
    if (tracer.exitCode !== null) return;
    const ended = once(tracer, 'exit');
    tracer.kill('SIGINT');
    await ended;
  };
}

/** Faults of a state folder: system calls of the process that fail or hang, by strace. */
export function folderFaults(pid: number, output: string): readonly StateFault[] {
  const begin = (call: string, effect: string) => () =>
    attachStrace(pid, output, call, `${effect}:when=${1 + random(3)}${Math.random() < 0.5 ? '+' : ''}`);
  return [
    { name: 'EIO of pwrite64', begin: begin('pwrite64', 'error=EIO') },
    { name: 'EIO of fdatasync', begin: begin('fdatasync', 'error=EIO') },
    { name: 'ENOSPC', begin: begin('pwrite64', 'error=ENOSPC') },
    { name: 'frozen disk', begin: begin('fdatasync', 'delay_enter=2500000') },
  ];
}

/** Whether strace has injected a fault since it was attached. */
export const isInjected = async (output: string): Promise<boolean> =>
  /\((?:INJECTED|DELAYED)\)/.test(await readFile(output, 'utf8').catch(() => ''));

/** Faults of a network between the process and its database. */
export function databaseFaults(proxy: FaultProxy): readonly StateFault[] {
  const begin = (fault: Parameters<FaultProxy['set']>[0], leastMs: number) => async () => {
    // Hits any of the writes of the calls that begin at the same time.
    await sleep(random(40));
    proxy.set(fault);
    return async () => {
      await sleep(leastMs);
      proxy.set({ kind: 'none' });
    };
  };
  return [
    { name: 'cut replies', begin: begin({ kind: 'cutResponses', percent: 50 }, 0) },
    { name: 'half replies', begin: begin({ kind: 'cutMessages', percent: 50 }, 0) },
    { name: 'rejected connections', begin: begin({ kind: 'reject' }, 200) },
    { name: 'frozen replies', begin: begin({ kind: 'freeze' }, 500) },
  ];
}

/** Faults of a Redis that writes each command to its append-only file before it replies. */
export function redisFaults(server: RedisProcess): readonly StateFault[] {
  return [
    {
      name: 'killed server',
      async begin() {
        await sleep(random(40));
        await server.kill();
        return server.start;
      },
    },
    {
      name: 'suspended server',
      async begin() {
        await sleep(random(40));
        server.freeze();
        return async () => {
          await sleep(500);
          server.resume();
        };
      },
    },
  ];
}
