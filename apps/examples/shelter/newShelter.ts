import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongodbUri, testDatabase } from '@petstore/testing/mongodb';
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import type { ShelterRouter } from './router.ts';
import { startShelter } from './startShelter.ts';

const apiKey = 'a-key-for-the-shelter-0123456789';

/** The stores to test on. MongoDB is included if `MONGODB_URI` is set. */
export const stores: readonly ('embedded' | 'mongodb')[] =
  mongodbUri === undefined ? ['embedded'] : ['embedded', 'mongodb'];

/** Starts an empty shelter on one of the stores, with clients. */
export async function newShelter(store: (typeof stores)[number]) {
  const dataDir = await mkdtemp(join(tmpdir(), 'shelter-'));
  const database = store === 'mongodb' ? testDatabase() : undefined;
  const options = { dataDir, mongodbUri: database?.uri, database: database?.database, apiKey };
  let running = await startShelter(options);
  const { origin } = running;
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    origin,
    options,
    client: createTRPCClient<ShelterRouter>({ links: [httpLink({ url: `${origin}/trpc`, headers })] }),
    /** Calls a REST operation. */
    async rest(method: string, path: string, body?: object, key?: string) {
      const response = await fetch(`${running.origin}/v1${path}`, {
        method,
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        location: response.headers.get('location'),
        link: response.headers.get('link'),
        isReplayed: response.headers.has('idempotent-replayed'),
        body: text === '' ? undefined : JSON.parse(text),
      };
    },
    /** Starts it again, on another port that only `rest` uses. */
    async restart() {
      await running.close();
      running = await startShelter(options);
    },
    async close() {
      await running.close();
      await rm(dataDir, { recursive: true, force: true });
      await database?.drop();
    },
  };
}

/** Returns the HTTP status of a tRPC call: that of its error, or 200. */
export async function statusOf(call: Promise<unknown>): Promise<number> {
  const error: unknown = await call.catch((cause: unknown) => cause);
  if (error instanceof TRPCClientError) return (error.data as { httpStatus: number }).httpStatus;
  return 200;
}
