import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '@petstore/core';
import { createGateway } from 'trpc-gateway';
import { jwt } from 'trpc-gateway/jwt';
import { mcp } from 'trpc-gateway/mcp';
import { temporaryFiles } from 'trpc-gateway/node';
import type { RunOptions, StartContext, Started } from 'trpc-gateway-runtime';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { log, type LogOptions } from 'trpc-gateway-runtime/log';
import { metrics } from 'trpc-gateway-runtime/metrics';
import { measuredEventLog } from 'trpc-gateway-shared';
import { folderEventLog } from 'trpc-gateway-shared/events/folder';
import { auditPolicy } from './audit.ts';
import { shelterEvents } from './events.ts';
import { PhotoFolder } from './photoFolder.ts';
import { collections, shelterRouter } from './router.ts';

export interface ShelterOptions {
  readonly host?: string | undefined;
  /** Default: a free port. */
  readonly port?: number | undefined;
  /** Default: no health checks and metrics on a port of their own. */
  readonly adminPort?: number | undefined;
  /** The folder of the photos and the events, and of the embedded store, which is used without `mongodbUri`. */
  readonly dataDir: string;
  readonly mongodbUri?: string | undefined;
  readonly database?: string | undefined;
  /** The access tokens that are accepted. */
  readonly accepts: { readonly issuer: string; readonly audience: string; readonly jwksUri: string };
  /** Calls that a user, or an address without a token, may make in a minute. Default: 600. */
  readonly callsPerMinute?: number | undefined;
  readonly logLevel?: LogOptions['level'];
}

export function shelterService(options: ShelterOptions): RunOptions {
  const { host = '127.0.0.1', port = 0, adminPort, logLevel = 'info' } = options;
  return {
    // Tokens with many claims are longer than 16 KiB. Clients that download photos slowly share a quarter of a small container.
    listen: { host, port, maxHeaderSize: 65_536, maxUnsentSize: 64 * 2 ** 20 },
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
  { log: serviceLog, options: runOptions, onClose }: StartContext,
): Promise<Started> {
  const store = await openStore(options);
  onClose((closing) => store.close(closing));
  const state = await openState(options);
  onClose(() => state.close());
  const photoFolder = join(options.dataDir, 'photos');
  await mkdir(photoFolder, { recursive: true });
  const photos = new PhotoFolder(photoFolder);
  const folderLog = folderEventLog({ path: join(options.dataDir, 'events') });
  onClose(() => folderLog.close());
  const eventLog = measuredEventLog(folderLog);
  const events = shelterEvents(eventLog, serviceLog);
  const gateway = await createGateway({
    ...runOptions,
    router: shelterRouter,
    document: { title: 'Shelter', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
    authentication: jwt({ ...options.accepts, type: 'at+jwt' }),
    mcp: mcp({
      // A page of animals has some 10 kB, unless their names are long.
      maxResultBytes: 20_000,
      instructions:
        'Read listCategories before createAnimal. Before adoptAnimal, find the animal: its status must be available. An adoption cannot be undone, so ask the person first.',
    }),
    policies: [auditPolicy(store)],
    // A batch as JSON lines begins before its calls end, and thus before their audits are stored.
    trpc: { allowBatching: false },
    createContext: ({ response, identity }) => ({
      store,
      photos,
      events,
      response,
      caller: identity?.sub,
      // Without the key: the gateway replays responses.
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
    // APIs of models reject larger images. No page of records is as large.
    maxResponseSize: 5 * 2 ** 20,
    // Proxies close sockets on which nothing is sent.
    sockets: { keepAlive: { enabled: true } },
    // Also the feed of adoptions: each event is sent at once.
    compression: true,
    // In the same file system, so that a photo can be moved.
    spool: temporaryFiles(photoFolder),
  });
  return {
    gateway,
    checks: { store: () => store.ready(), events: eventLog.ready },
    metrics: eventLog.metrics,
    startupLogFields: { issuer: options.accepts.issuer },
  };
}

/** Opens the configured store. Imports only its module. */
async function openStore({ dataDir, mongodbUri, database = 'shelter' }: ShelterOptions): Promise<Store> {
  if (mongodbUri === undefined) {
    const { openEmbeddedStore } = await import('@petstore/embedded-store');
    return openEmbeddedStore({ dataDir, collections, migrate: true });
  }
  const { openMongodbStore } = await import('@petstore/core/store/mongodb');
  return openMongodbStore({ uri: mongodbUri, database, collections, migrate: true });
}

/** Opens the state of idempotency keys and limits, which is beside the records. */
async function openState({ dataDir, mongodbUri, database = 'shelter' }: ShelterOptions) {
  if (mongodbUri === undefined) {
    const { folderState } = await import('trpc-gateway-shared/state/folder');
    return folderState({ path: join(dataDir, 'responses') });
  }
  const { mongodbState } = await import('trpc-gateway-shared/state/mongodb');
  const { MongoClient } = await import('mongodb');
  return mongodbState({ connect: () => new MongoClient(mongodbUri), database });
}
