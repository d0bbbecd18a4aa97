import { createKeyVerifier, issueKey, type Store } from '@petstore/core';
import { bearer, createGateway } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import { relatedStore } from './relations.ts';
import { collections, relations, shelterRouter } from './router.ts';

export interface ShelterOptions {
  readonly host?: string | undefined;
  /** Default: any free one. */
  readonly port?: number | undefined;
  /** The folder of the embedded store, which is used where there is no `mongodbUri`. */
  readonly dataDir: string;
  readonly mongodbUri?: string | undefined;
  readonly database?: string | undefined;
  /** A key beside those in the store. Without it a new store gets one. */
  readonly apiKey?: string | undefined;
}

export interface Shelter {
  readonly origin: string;
  /** The API key that was made, where this is the first start on its store. */
  readonly firstKey: string | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the store and serves the shelter on it. */
export async function startShelter(options: ShelterOptions): Promise<Shelter> {
  const { host = '127.0.0.1', port = 0, apiKey } = options;
  const opened = await openStore(options);
  try {
    const firstKey = apiKey === undefined ? await makeFirstKey(opened) : undefined;
    const store = relatedStore(opened, relations);
    const gateway = await createGateway({
      router: shelterRouter,
      document: { title: 'Shelter', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
      authentication: bearer({ noun: 'API key', verify: createKeyVerifier({ keys: store.keys, apiKey }) }),
      createContext: ({ response, identity, idempotencyKey }) => ({
        store,
        response,
        caller: identity?.hash,
        idempotencyKey,
      }),
    });
    const listening = await serve(gateway, { host, port });
    return {
      origin: `http://${host}:${listening.port}`,
      firstKey,
      async close() {
        await listening.close();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The other store's code is not even loaded. */
async function openStore({ dataDir, mongodbUri: uri, database = 'shelter' }: ShelterOptions): Promise<Store> {
  if (uri === undefined) {
    const { openEmbeddedStore } = await import('@petstore/core/store/embedded');
    return openEmbeddedStore({ dataDir, collections });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  return openMongodbStore({ uri, database, collections });
}

/** Makes the first API key of a new store: of several processes on one store, one gets it. */
async function makeFirstKey({ keys }: Store): Promise<string | undefined> {
  const { key, hash } = issueKey();
  const isFirst = await keys.addFirst({ hash, name: 'first', createdAt: Date.now() });
  return isFirst ? key : undefined;
}
