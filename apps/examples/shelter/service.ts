import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '@petstore/core';
import { createGateway, type State } from 'trpc-gateway';
import { jwt } from 'trpc-gateway/jwt';
import { mcp } from 'trpc-gateway/mcp';
import { temporaryFiles } from 'trpc-gateway/node';
import type { RunOptions, StartContext, Started } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log, type LogOptions } from 'trpc-gateway-runtime/log';
import { metrics } from 'trpc-gateway-runtime/metrics';
import { AdoptionFeed } from './adoptionFeed.ts';
import { auditPolicy } from './audit.ts';
import { PhotoFolder } from './photoFolder.ts';
import { relatedStore } from './relations.ts';
import { collections, relations, shelterRouter } from './router.ts';

export interface ShelterOptions {
  readonly host?: string | undefined;
  /** Default: a free port. */
  readonly port?: number | undefined;
  /** Default: no health checks and metrics on a port of their own. */
  readonly adminPort?: number | undefined;
  /** The folder of the photos, and of the embedded store, which is used without `mongodbUri`. */
  readonly dataDir: string;
  readonly mongodbUri?: string | undefined;
  readonly database?: string | undefined;
  /** The access tokens that are accepted. */
  readonly accepts: { readonly issuer: string; readonly audience: string; readonly jwksUri: string };
  /** Calls that a user, or an address without a token, may make in a minute. Default: 600. */
  readonly callsPerMinute?: number | undefined;
  readonly logLevel?: LogOptions['level'];
}

/** Returns the options of `run` for the shelter. It runs in one process, because subscriptions are woken by their own. */
export function shelterService(options: ShelterOptions): RunOptions {
  const { host = '127.0.0.1', port = 0, adminPort, logLevel = 'info' } = options;
  return {
    listen: { host, port },
    log: log({ level: logLevel }),
    docs: docsPage(),
    expectedErrors: ['StoreError'],
    ...(adminPort !== undefined && { admin: { port: adminPort, metrics: metrics({ prefix: 'shelter_' }) } }),
    start: (context) => startShelter(options, context),
  };
}

/** Opens the store and creates the gateway. All parts of the service are wired here. */
async function startShelter(
  options: ShelterOptions,
  { options: runOptions, onClose }: StartContext,
): Promise<Started> {
  const { store: openedStore, state } = await openStore(options, onClose);
  const photoFolder = join(options.dataDir, 'photos');
  await mkdir(photoFolder, { recursive: true });
  const store = relatedStore(openedStore, relations);
  const photos = new PhotoFolder(photoFolder);
  const adoptionFeed = new AdoptionFeed();
  const gateway = await createGateway({
    ...runOptions,
    router: shelterRouter,
    document: { title: 'Shelter', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    authentication: jwt({ ...options.accepts, type: 'at+jwt' }),
    mcp: mcp({
      instructions:
        'Read listCategories before createAnimal. Before adoptAnimal, find the animal: its status must be available. An adoption cannot be undone, so ask the person first.',
    }),
    policies: [auditPolicy(store)],
    createContext: ({ response, identity }) => ({
      store,
      photos,
      adoptionFeed,
      response,
      caller: identity?.sub,
      // Without the key: the gateway replays responses. An idempotent create of the store cannot keep the relations.
      idempotencyKey: undefined,
    }),
    // Users renew their tokens, so that a token does not identify its user.
    state,
    idempotency: { caller: ({ identity }) => identity?.sub },
    rateLimit: {
      calls: options.callsPerMinute ?? 600,
      windowMs: 60_000,
      key: ({ identity }) => identity?.sub,
    },
    failedAttempts: { attempts: 20, windowMs: 60_000 },
    // In the same file system, so that a photo can be moved.
    spool: temporaryFiles(photoFolder),
  });
  return {
    gateway,
    checks: { store: () => store.ready() },
    startupLogFields: { issuer: options.accepts.issuer },
  };
}

/** Opens the configured store, and beside it the state of idempotency keys and limits. Imports only their modules. */
async function openStore(
  { dataDir, mongodbUri: uri, database = 'shelter' }: ShelterOptions,
  onClose: StartContext['onClose'],
): Promise<{ readonly store: Store; readonly state: State }> {
  if (uri === undefined) {
    const { openEmbeddedStore } = await import('@petstore/embedded-store');
    const { folderState } = await import('trpc-gateway-runtime/state/folder');
    const store = await openEmbeddedStore({ dataDir, collections });
    onClose((closing) => store.close(closing));
    const state = folderState({ path: join(dataDir, 'responses') });
    onClose(() => state.close());
    return { store, state };
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  const { mongodbState } = await import('trpc-gateway-runtime/state/mongodb');
  const { MongoClient } = await import('mongodb');
  const store = await openMongodbStore({ uri, database, collections });
  onClose((closing) => store.close(closing));
  const state = await mongodbState({ connect: () => new MongoClient(uri), database });
  onClose(() => state.close());
  return { store, state };
}
