import { startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { onTestFinished } from 'vitest';
import { type MongodbStoreOptions, openMongodbStore } from '../index.ts';
import { collections } from '../../../collections.ts';

export type ProxiedDatabase = Awaited<ReturnType<typeof proxiedDatabase>>;

/**
 * Creates a database behind a proxy that injects faults. It is dropped when the test ends.
 * @param operationTimeoutMs default: longer than a busy machine needs. Only for operations that time out
 */
export async function proxiedDatabase(operationTimeoutMs = 20_000) {
  const { uri: direct, database, drop } = testDatabase();
  onTestFinished(drop);
  const proxy = await startFaultProxy(direct);
  onTestFinished(() => proxy.close());
  const { uri } = proxy;
  return {
    /** URI of the proxy. */
    uri,
    database,
    proxy,
    /** Connects to the database without a store. */
    connect: (options?: MongoClientOptions) => {
      const client = new MongoClient(uri, options);
      onTestFinished(() => client.close());
      return client.db(database);
    },
    /** Opens a store on the database. */
    open: async (options?: Partial<MongodbStoreOptions>) => {
      const store = await openMongodbStore({ uri, database, operationTimeoutMs, collections, ...options });
      onTestFinished(() => store.close());
      return store;
    },
  };
}
