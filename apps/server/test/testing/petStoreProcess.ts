import { fileURLToPath } from 'node:url';
import {
  logLines,
  type RunningService,
  type ServiceProcess,
  startService,
} from '@petstore/testing/serviceProcess';
import { vi } from 'vitest';

export {
  type Exit,
  listening,
  logLines,
  type RunningService as RunningServer,
  type ServiceProcess as PetStoreProcess,
} from '@petstore/testing/serviceProcess';

/** The bundle of the current test run (`bundledProcess.ts`), or the sources outside a test run. */
const main = process.env['PETSTORE_MAIN'] ?? fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface RunOptions {
  /** The file to run. Default: the pet store. */
  readonly entry?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The executable. Default: the Node of this process. */
  readonly runtime?: string;
  /** Options of Node. */
  readonly nodeArgs?: readonly string[];
  readonly uid?: number;
}

/** Starts the process. It inherits only `PATH` of this environment. */
export const run = ({
  entry = main,
  args = [],
  env = {},
  runtime = process.execPath,
  nodeArgs = [],
  uid,
}: RunOptions = {}): ServiceProcess =>
  startService(runtime, [...nodeArgs, entry, ...args], {
    // Other tests may keep the machine busy: requests that wait must not be rejected.
    env: { PATH: process.env.PATH, MAX_QUEUE_MS: '60000', ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  });

const storeProcess = fileURLToPath(
  new URL('../../../../packages/embedded-store/src/testing/storeProcess.ts', import.meta.url),
);

/** Options of a process that prints when it holds the write lock of a data folder, and holds it until it is killed. */
export const holdLock = (dataDir: string): RunOptions => ({
  entry: storeProcess,
  args: ['holdLock', dataDir],
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
