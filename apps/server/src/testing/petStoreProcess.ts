import { fileURLToPath } from 'node:url';
import { type RunningService, type ServiceProcess, startService } from '@petstore/testing/serviceProcess';

export {
  type Exit,
  listening,
  logLines,
  type RunningService as RunningServer,
  type ServiceProcess as PetStoreProcess,
} from '@petstore/testing/serviceProcess';

/** The bundle of this run of the tests (`bundledProcess.ts`); outside of one, the sources. */
const main = process.env['PETSTORE_MAIN'] ?? fileURLToPath(new URL('../main.ts', import.meta.url));

export interface RunOptions {
  /** What runs in place of the process. */
  readonly entry?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The executable that runs it. Default: the Node of this process. */
  readonly runtime?: string;
  /** Options of Node itself. */
  readonly nodeArgs?: readonly string[];
  readonly uid?: number;
}

/** Starts the process. Nothing of this environment reaches it but `PATH`. */
export const run = ({
  entry = main,
  args = [],
  env = {},
  runtime = process.execPath,
  nodeArgs = [],
  uid,
}: RunOptions = {}): ServiceProcess =>
  startService(runtime, [...nodeArgs, entry, ...args], {
    // The machine is busy with other tests: who waits for it is not to be refused.
    env: { PATH: process.env.PATH, MAX_QUEUE_MS: '60000', ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  });

/** Waits until a server that listens can serve: its database may be reached later than its port. */
export async function ready({ origin }: Pick<RunningService, 'origin'>): Promise<void> {
  while ((await fetch(`${origin}/readyz`)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
