import type { WorkerRole } from '../service.ts';

const variable = 'PETSTORE_RUNTIME_WORKER';

/** The environment of a worker: that of this process, and what makes it a worker. */
export const workerEnvironment = (role: WorkerRole): NodeJS.ProcessEnv => ({
  ...process.env,
  [variable]: JSON.stringify(role),
});

/** @returns what makes this process a worker; `undefined` where no parent started it as one */
export function takeWorkerRole(): WorkerRole | undefined {
  const role = process.env[variable];
  // What this process starts is no worker of the service.
  delete process.env[variable];
  return role === undefined || process.send === undefined ? undefined : (JSON.parse(role) as WorkerRole);
}
