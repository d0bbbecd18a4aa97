import type { RunOptions } from '../options.ts';
import { type RunningService, startService, type WorkerRole } from '../service.ts';
import { endProcess, errorText } from '../signals/endProcess.ts';
import { stopOnSignals } from '../signals/stopOnSignals.ts';
import type { WorkerMessage, WorkerRequest } from './workerMessages.ts';

/** Runs a worker of a port. It stops gracefully on a signal, a fatal error and its parent's disconnect. */
export async function runWorker(options: RunOptions, role: WorkerRole): Promise<void> {
  const { expectedErrors } = options;
  const starting = startService(options, role);
  const onStop = () => void send({ type: 'stopping' });
  const stop = stopOnSignals(starting, { onStop, expectedErrors });
  process.once('disconnect', stop);
  let service: RunningService;
  try {
    service = await starting;
  } catch (error) {
    await send({ type: 'failed', message: errorText(error, expectedErrors) });
    return endProcess(error);
  }
  void service.fatalError.then((error) =>
    send({ type: 'failed', message: errorText(error, expectedErrors) }),
  );
  // Node does not type messages. The sender is our supervisor, of the same version.
  process.on('message', (message: WorkerRequest) => void respond(service, message));
  const { origin, server, version, fallbackReason } = service;
  await send({ type: 'listening', origin, server, version, fallbackReason });
}

async function respond(service: RunningService, { type, id }: WorkerRequest): Promise<void> {
  switch (type) {
    case 'metrics':
      return send({ type, id, metrics: (await service.metrics?.()) ?? null });
    case 'ready':
      return send({ type, id, reason: (await service.notReady()) ?? null });
  }
}

/** Sends a message to the supervisor. Does nothing if it is gone: the worker is about to stop. */
const send = (message: WorkerMessage) =>
  new Promise<void>((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
