import { startService } from 'trpc-gateway-runtime';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startIssuer } from '../issuer.ts';
import type { ShelterRouter } from '../router.ts';
import { type ShelterOptions, shelterService } from '../service.ts';

const allScopes = 'animals:write adoptions:read adoptions:write audits:read';

/** The stores to test on. MongoDB is included if `MONGODB_URI` is set. */
export const stores: readonly ('embedded' | 'mongodb')[] =
  mongodbUri === undefined ? ['embedded'] : ['embedded', 'mongodb'];

/**
 * Starts an empty shelter on one of the stores, with an issuer of tokens and with clients of a user with all scopes.
 * @param atEnd registers its end. Default: `onTestFinished`
 */
export async function newShelter(
  store: (typeof stores)[number],
  settings: Partial<ShelterOptions> = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
) {
  const dataDir = await temporaryFolder(atEnd);
  const database = store === 'mongodb' ? testDatabase() : undefined;
  if (database) atEnd(database.drop);
  const issuer = await startIssuer();
  const options: ShelterOptions = {
    adminPort: 0,
    dataDir,
    mongodbUri: database?.uri,
    database: database?.database,
    accepts: issuer.accepts,
    callsPerMinute: 1_000_000,
    logLevel: 'silent',
    ...settings,
  };
  const service = shelterService(options);
  let running = await startService(service);
  atEnd(async () => {
    await running.close();
    issuer.close();
  });
  const { origin } = running;
  const authorization = `Bearer ${await issuer.token('ada', allScopes)}`;
  const headers = { authorization };
  return {
    origin,
    dataDir,
    headers,
    token: issuer.token,
    client: createTRPCClient<ShelterRouter>({ links: [httpLink({ url: `${origin}/trpc`, headers })] }),
    /** Calls a REST operation. */
    async rest(method: string, path: string, body?: object, other: Readonly<Record<string, string>> = {}) {
      const response = await fetch(`${running.origin}/v1${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json', ...other },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        location: response.headers.get('location'),
        isReplayed: response.headers.has('idempotent-replayed'),
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    /** Starts it again, on another port that only `rest` uses, and returns its origin. */
    async restart() {
      await running.close();
      running = await startService(service);
      return running.origin;
    },
  };
}

export type Shelter = Awaited<ReturnType<typeof newShelter>>;

/** Returns a shelter for the tests of a file or a group, with the categories 1 (Dogs) and 2 (Cats). */
export function sharedShelter(store: (typeof stores)[number] = 'embedded'): Shelter {
  // Filled before the first test.
  const shelter = {} as Shelter;
  beforeAll(async () => {
    Object.assign(shelter, await newShelter(store, {}, afterAll));
    for (const name of ['Dogs', 'Cats']) await shelter.client.createCategory.mutate({ name });
  });
  return shelter;
}

/** Returns the HTTP status of a tRPC call: that of its error, or 200. */
export async function statusOf(call: Promise<unknown>): Promise<number> {
  const error: unknown = await call.catch((cause: unknown) => cause);
  if (error instanceof TRPCClientError) return (error.data as { httpStatus: number }).httpStatus;
  return 200;
}
