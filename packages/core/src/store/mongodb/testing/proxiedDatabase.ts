import { type FaultProxy, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { onTestFinished } from 'vitest';
import type { Store } from '../../store.ts';
import { type MongodbStoreOptions, openMongodbStore } from '../index.ts';
import { collections } from '../../../collections.ts';

/** A database for one test behind a proxy that injects faults. It is dropped when the test ends. */
export interface ProxiedDatabase {
  /** URI of the proxy. */
  readonly uri: string;
  readonly database: string;
  readonly proxy: FaultProxy;
  /** Opens a store on the database. */
  readonly open: (options?: Partial<MongodbStoreOptions>) => Promise<Store>;
  /** Connects to the database without a store. */
  readonly connect: (options?: MongoClientOptions) => Db;
}

/** @param operationTimeoutMs default: longer than a busy machine needs. Only for operations that time out */
export async function proxiedDatabase(operationTimeoutMs = 20_000): Promise<ProxiedDatabase> {
  const { uri: direct, database, drop } = testDatabase();
  onTestFinished(drop);
  const proxy = await startFaultProxy(direct);
  onTestFinished(() => proxy.close());
  const { uri } = proxy;
  return {
    uri,
    database,
    proxy,
    connect(options) {
      const client = new MongoClient(uri, options);
      onTestFinished(() => client.close());
      return client.db(database);
    },
    async open(options) {
      const store = await openMongodbStore({ uri, database, operationTimeoutMs, collections, ...options });
      onTestFinished(() => store.close());
      return store;
    },
  };
}
