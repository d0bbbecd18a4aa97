import type { RunOptions } from '../options.ts';
import { type RunningService, startService, type WorkerRole } from '../service.ts';
import { endFor } from '../signals/endProcess.ts';
import { errorText } from '../signals/errorText.ts';
import { stopOnSignals } from '../signals/stopOnSignals.ts';
import type { FromWorker, ToWorker } from './workerMessages.ts';

/**
 * Serves as one of several processes on a port. It stops in order when it is told to, when its parent is gone, and when
 * the service fails.
 */
export async function runWorker(options: RunOptions, role: WorkerRole): Promise<void> {
  const { expectedErrors } = options;
  const starting = startService(options, role);
  const onStop = () => void tell({ type: 'stopping' });
  const stop = stopOnSignals(starting, { onStop, expectedErrors });
  process.once('disconnect', stop);
  let service: RunningService;
  try {
    service = await starting;
  } catch (error) {
    await tell({ type: 'failed', message: errorText(error, expectedErrors) });
    return endFor(error);
  }
  // Node types no messages; this one's sender is our parent, of the same version.
  process.on('message', (message: ToWorker) => void response(service, message));
  await tell({ type: 'listening', origin: service.origin, server: service.server });
}

async function response(service: RunningService, { type, id }: ToWorker): Promise<void> {
  switch (type) {
    case 'metrics':
      return tell({ type, id, metrics: (await service.metrics?.()) ?? null });
    case 'ready':
      return tell({ type, id, fault: (await service.notReady()) ?? null });
  }
}

/** Where the parent is gone there is nobody to tell, and the worker is about to stop. */
const tell = (message: FromWorker) =>
  new Promise<void>((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
