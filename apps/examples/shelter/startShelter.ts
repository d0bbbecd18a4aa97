import { join } from 'node:path';
import { createKeyVerifier, issueKey, type Store } from '@petstore/core';
import { bearer, createGateway, type State } from '@petstore/gateway';
import { serve } from '@petstore/gateway/uws';
import { relatedStore } from './relations.ts';
import { collections, relations, shelterRouter } from './router.ts';

export interface ShelterOptions {
  readonly host?: string | undefined;
  /** Default: a free port. */
  readonly port?: number | undefined;
  /** The folder of the embedded store, which is used without `mongodbUri`. */
  readonly dataDir: string;
  readonly mongodbUri?: string | undefined;
  readonly database?: string | undefined;
  /** A key that is accepted besides the stored ones. Without it, a first key is created for a new store. */
  readonly apiKey?: string | undefined;
}

export interface Shelter {
  readonly origin: string;
  /** The API key that was created if this is the first start on a store. */
  readonly firstKey: string | undefined;
  readonly close: () => Promise<void>;
}

/** Opens the store and serves the shelter on it. */
export async function startShelter(options: ShelterOptions): Promise<Shelter> {
  const { host = '127.0.0.1', port = 0, apiKey } = options;
  const openedStore = await openStore(options);
  let responses: OpenedState | undefined;
  const closeAll = async () => {
    await responses?.close();
    await openedStore.close();
  };
  try {
    responses = await openState(options);
    const firstKey = apiKey === undefined ? await makeFirstKey(openedStore) : undefined;
    const store = relatedStore(openedStore, relations);
    const gateway = await createGateway({
      router: shelterRouter,
      maskUnexpectedErrors: true,
      document: { title: 'Shelter', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
      authentication: bearer({ noun: 'API key', verify: createKeyVerifier({ keys: store.keys, apiKey }) }),
      // Without the key: the gateway replays responses. An idempotent create of the store cannot keep the relations.
      createContext: ({ response, identity }) => ({
        store,
        response,
        caller: identity?.hash,
        idempotencyKey: undefined,
      }),
      idempotency: { state: responses.state },
    });
    const listening = await serve(gateway, { host, port });
    return {
      origin: `http://${host}:${listening.port}`,
      firstKey,
      async close() {
        await listening.close();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Opens the configured store. Imports only its module. */
async function openStore({ dataDir, mongodbUri: uri, database = 'shelter' }: ShelterOptions): Promise<Store> {
  if (uri === undefined) {
    const { openEmbeddedStore } = await import('@petstore/core/store/embedded');
    return openEmbeddedStore({ dataDir, collections });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  return openMongodbStore({ uri, database, collections });
}

interface OpenedState {
  readonly state: State;
  readonly close: () => Promise<void>;
}

/** Opens the state that stores responses for `Idempotency-Key`, beside the store: repeats work after a restart too. */
async function openState({
  dataDir,
  mongodbUri: uri,
  database = 'shelter',
}: ShelterOptions): Promise<OpenedState> {
  if (uri === undefined) {
    const { folderState } = await import('@petstore/runtime/state/folder');
    const state = folderState({ path: join(dataDir, 'responses') });
    return { state, close: () => state.close() };
  }
  const [{ mongodbState }, { MongoClient }] = await Promise.all([
    import('@petstore/runtime/state/mongodb'),
    import('mongodb'),
  ]);
  const state = await mongodbState({ connect: () => new MongoClient(uri), database });
  return { state, close: () => state.close() };
}

/** Creates the first API key of a new store. Of several processes on one store, only one gets it. */
async function makeFirstKey({ keys }: Store): Promise<string | undefined> {
  const { key, hash } = issueKey();
  const isFirst = await keys.addFirst({ hash, name: 'first', createdAt: Date.now() });
  return isFirst ? key : undefined;
}
