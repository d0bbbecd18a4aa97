import { fileURLToPath } from 'node:url';
import {
  logLines,
  type RunningService,
  type ServiceProcess,
  startService,
} from '@petstore/testing/serviceProcess';
import { vi } from 'vitest';

export const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The executable. Default: the Node of this process. */
  readonly runtime?: string;
  readonly nodeArgs?: readonly string[];
  readonly uid?: number;
}

/** Starts the process. It inherits only `PATH` of this environment. */
export const run = ({
  args = [],
  env = {},
  runtime = process.execPath,
  nodeArgs = [],
  uid,
}: RunOptions = {}): ServiceProcess =>
  startService(runtime, [...nodeArgs, main, ...args], {
    // Other tests may keep the machine busy: requests that wait must not be rejected.
    env: { PATH: process.env.PATH, MAX_QUEUE_MS: '60000', ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  });

/** Returns the ids of the workers that have logged `worker listening`, in order. */
export const workersOf = (server: Pick<ServiceProcess, 'stdout'>): number[] =>
  logLines(server)
    .filter(({ msg }) => msg === 'worker listening')
    .map(({ pid }) => Number(pid));

/** Waits until a listening server is ready: its database may be reached later than its port. */
export async function ready({ origin }: Pick<RunningService, 'origin'>): Promise<void> {
  await vi.waitFor(async () => {
    const response = await fetch(`${origin}/readyz`);
    if (!response.ok) throw new Error(`${origin}/readyz responded: ${await response.text()}`);
  });
}
