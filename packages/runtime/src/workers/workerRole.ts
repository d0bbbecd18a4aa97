import type { WorkerRole } from '../service.ts';

const variable = 'PETSTORE_RUNTIME_WORKER';

/** Returns the environment for a worker: the environment of this process and the worker's role. */
export const workerEnvironment = (role: WorkerRole): NodeJS.ProcessEnv => ({
  ...process.env,
  [variable]: JSON.stringify(role),
});

/** Returns the role of this process and removes it from the environment; `undefined` if the process is not a worker. */
export function takeWorkerRole(): WorkerRole | undefined {
  const role = process.env[variable];
  // Child processes of this worker must not inherit the role.
  delete process.env[variable];
  return role === undefined || process.send === undefined ? undefined : (JSON.parse(role) as WorkerRole);
}
