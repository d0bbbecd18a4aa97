import { type FaultProxy, startFaultProxy, testDatabase } from '@petstore/testing/mongodb';
import { onTestFinished } from 'vitest';
import type { Store } from '../../store.ts';
import { type MongodbStoreOptions, openMongodbStore } from '../index.ts';

/** A database for one test behind a proxy that injects faults. It is dropped when the test ends. */
export interface ProxiedDatabase {
  /** URI of the proxy. */
  readonly uri: string;
  readonly database: string;
  readonly proxy: FaultProxy;
  /** Opens a store on the database. Default timeout: one second. */
  readonly open: (options?: Partial<MongodbStoreOptions>) => Promise<Store>;
}

export async function proxiedDatabase(): Promise<ProxiedDatabase> {
  const { uri: direct, database, drop } = testDatabase();
  const proxy = await startFaultProxy(direct);
  const { uri } = proxy;
  const stores: Store[] = [];
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await proxy.close();
    await drop();
  });
  return {
    uri,
    database,
    proxy,
    async open(options) {
      const store = await openMongodbStore({ uri, database, operationTimeoutMs: 1000, ...options });
      stores.push(store);
      return store;
    },
  };
}
