import { collections, type Animal, animals, type Collection, type Store } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import type { RunningService } from 'trpc-gateway-runtime';
import { onTestFinished } from 'vitest';
import { startServer } from '../../src/serve.ts';
import { type Configuration, readConfiguration } from '../../src/configuration/configuration.ts';
import { apiKey } from './newFolder.ts';

/** The methods of a store and of its collection of animals. */
type StoreParts = Omit<Store, 'collection'> & Collection<Animal, 'status'>;

/** Returns replacements for methods of the store or of its collection of animals. */
export type StoreChange = (store: StoreParts) => Partial<StoreParts>;

function changeStore(store: Store, change: StoreChange): Store {
  const records = store.collection(animals);
  const changes = change({ ...store, ...records });
  const collection: unknown = () => ({ ...records, ...changes });
  return { ...store, ...changes, collection: collection as Store['collection'] };
}

/**
 * Starts the service in this process in 50 ms until the test ends: a free port, an empty folder, no log.
 * @param change returns replacements for methods of the store
 */
export async function startServerInProcess(
  env: Readonly<Record<string, string>> = {},
  change: StoreChange = () => ({}),
): Promise<RunningService> {
  const folder = await temporaryFolder();
  const server = await startServer(
    readConfiguration({ PORT: '0', DATA_DIR: folder, API_KEY: apiKey, LOG_LEVEL: 'silent', ...env }),
    {
      async openStore() {
        return changeStore(await openEmbeddedStore({ dataDir: folder, collections }), change);
      },
    },
  );
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close());
  onTestFinished(close);
  return { ...server, close };
}

/** Starts the service as it is configured, and stops it. For starts that fail. */
export async function startAndStop(configuration: Configuration): Promise<string> {
  const server = await startServer(configuration);
  await server.close();
  return server.origin;
}
