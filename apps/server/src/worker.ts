import { StoreError, type StoreErrorCode } from '@petstore/core';
import { type Server, startServer } from './app.ts';
import { CommandError } from './commandError.ts';
import type { Configuration } from './configuration.ts';
import { endFor } from './endProcess.ts';
import { faultText } from './faultText.ts';
import { stopOnSignals } from './stopOnSignals.ts';
import type { FromWorker, ToWorker } from './workerMessages.ts';

export interface WorkerOptions {
  /** Whether a data folder without a store gets one. */
  readonly createStore: boolean;
}

/**
 * Serves as one of several processes on a port. It stops in order when it is told to, when its parent is gone, and when
 * it can no longer use the store.
 * @throws {CommandError} where no parent started it
 */
export async function runWorker(configuration: Configuration, { createStore }: WorkerOptions): Promise<void> {
  if (process.send === undefined)
    throw new CommandError('Workers are started by serve, with WORKERS above 1.');
  const starting = startServer(configuration, { isWorker: true, createStore });
  const stop = stopOnSignals(starting, () => void tell({ type: 'stopping' }));
  process.once('disconnect', stop);
  let server: Server;
  try {
    server = await starting;
  } catch (error) {
    await tell({ type: 'failed', message: faultText(error) });
    return endFor(error);
  }
  // Node types no messages; this one's sender is our parent, of the same version.
  process.on('message', (message: ToWorker) => void answer(server, message));
  await tell({ type: 'listening', origin: server.origin, server: server.server });
}

async function answer(server: Server, { type, id }: ToWorker): Promise<void> {
  switch (type) {
    case 'metrics':
      return tell({ type, id, metrics: (await server.metrics?.()) ?? null });
    case 'ready':
      return tell({ type, id, fault: await storeFault(server) });
  }
}

async function storeFault({ ready }: Server): Promise<StoreErrorCode | null> {
  try {
    await ready();
    return null;
  } catch (error) {
    return error instanceof StoreError ? error.code : 'unavailable';
  }
}

/** Where the parent is gone there is nobody to tell, and the worker is about to stop. */
const tell = (message: FromWorker) =>
  new Promise<void>((resolve) => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
