// Hot path: wraps every store operation.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  collections as petStoreCollections,
  type Store,
  type StoredRecord,
  StoreError,
  type StoreErrorCode,
} from '@petstore/core';
import { counter, type MetricFamily, gauge, Latency, latencyFamily } from 'trpc-gateway-runtime/metrics';

/** The label `error`. `aborted`: the caller no longer waited. `other`: an unexpected error. */
type FailureReason = StoreErrorCode | 'aborted' | 'other';

/** Timeout of the readiness check in a scrape, so that a scrape does not wait for a database. */
const readyTimeoutMs = 1000;

class OperationMetrics {
  readonly latency = new Latency();
  readonly failures = new Map<FailureReason, number>();

  /** Runs `call`, records its duration and returns its result. Synchronous results stay synchronous. */
  run<T>(call: () => T, options?: CallOptions): T {
    const start = performance.now();
    const onEnd = () => this.latency.observe(performance.now() - start);
    const onError = (error: unknown) => {
      onEnd();
      const reason = failureReason(error, options);
      this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
    };
    try {
      const result = call();
      // A separate chain: the caller's promise is returned unchanged.
      if (result instanceof Promise) result.then(onEnd, onError);
      else onEnd();
      return result;
    } catch (error) {
      onError(error);
      throw error;
    }
  }
}

function failureReason(error: unknown, options: CallOptions | undefined): FailureReason {
  if (error instanceof StoreError) return error.code;
  return options?.signal?.aborted === true ? 'aborted' : 'other';
}

const RECORD_OPERATIONS = ['create', 'createOnce', 'get', 'list', 'update', 'delete'] as const;
type CollectionMetrics = Readonly<Record<(typeof RECORD_OPERATIONS)[number], OperationMetrics>>;

/** Measures the duration of store operations, per collection, and counts errors. */
export function createStoreMetrics(collections: readonly CollectionDefinition[] = petStoreCollections) {
  const operations: {
    readonly labels: Readonly<Record<string, string>>;
    readonly operation: OperationMetrics;
  }[] = [];

  function operation(name: string, collection?: string): OperationMetrics {
    const added = new OperationMetrics();
    const labels = { ...(collection !== undefined && { collection }), operation: name };
    operations.push({ labels, operation: added });
    return added;
  }
  const metricsByCollection = new Map(
    collections.map((definition): [CollectionDefinition, CollectionMetrics] => [
      definition,
      // Every name has an entry.
      Object.fromEntries(
        RECORD_OPERATIONS.map((name) => [name, operation(name, definition.name)]),
      ) as CollectionMetrics,
    ]),
  );
  const findKey = operation('keys.find');
  const addKey = operation('keys.add');
  const addFirstKey = operation('keys.addFirst');
  const listKeys = operation('keys.list');
  const revokeKey = operation('keys.revoke');
  const touchKey = operation('keys.touch');

  return {
    /** @returns a store with measured operations */
    wrapStore(store: Store): Store {
      const { keys } = store;
      const wrapped = new Map(
        Array.from(metricsByCollection, ([definition, metrics]) => [
          definition,
          wrapCollection(store.collection(definition), metrics),
        ]),
      );
      return {
        collection<Stored extends StoredRecord, Indexed extends string>(
          definition: CollectionDefinition<Stored, Indexed>,
        ) {
          // The entry was created from this definition. Unknown collections are returned without measurement.
          const collection: unknown = wrapped.get(definition);
          return (collection ?? store.collection(definition)) as Collection<Stored, Indexed>;
        },
        keys: {
          find: (hash, options) => findKey.run(() => keys.find(hash, options), options),
          add: (record) => addKey.run(() => keys.add(record)),
          addFirst: (record) => addFirstKey.run(() => keys.addFirst(record)),
          list: () => listKeys.run(() => keys.list()),
          revoke: (name, revokedAt) => revokeKey.run(() => keys.revoke(name, revokedAt)),
          touch: (hash, usedAt) => touchKey.run(() => keys.touch(hash, usedAt)),
        },
        ready: () => store.ready(),
        close: (options) => store.close(options),
      };
    },

    /** @param rememberedKeys number of valid API keys in the cache */
    async families(store: Pick<Store, 'ready'>, rememberedKeys: number): Promise<MetricFamily[]> {
      const isReady = await canServe(store);
      return [
        latencyFamily(
          'petstore_store_operation_duration_seconds',
          'Duration of store operations in seconds, including failed ones.',
          operations.map(({ labels, operation: { latency } }) => [labels, latency]),
        ),
        counter(
          'petstore_store_errors_total',
          'Number of failed store operations, by error.',
          operations.flatMap(({ labels, operation: { failures } }) =>
            Array.from(failures, ([error, value]) => ({ labels: { ...labels, error }, value })),
          ),
        ),
        gauge(
          'petstore_store_ready',
          '1 if the store is ready within 1 s, 0 otherwise. /readyz returns 503 at 0.',
          isReady ? 1 : 0,
          'min',
        ),
        gauge('petstore_remembered_keys', 'Number of valid API keys in the cache.', rememberedKeys),
      ];
    },
  };
}

const canServe = (store: Pick<Store, 'ready'>): Promise<boolean> =>
  Promise.race([
    sleep(readyTimeoutMs, false, { ref: false }),
    (async () => store.ready())().then(
      () => true,
      () => false,
    ),
  ]);

function wrapCollection<Stored extends StoredRecord, Indexed extends string>(
  records: Collection<Stored, Indexed>,
  metrics: CollectionMetrics,
): Collection<Stored, Indexed> {
  return {
    create: (values, options) => metrics.create.run(() => records.create(values, options), options),
    createOnce: (values, reservation, options) =>
      metrics.createOnce.run(() => records.createOnce(values, reservation, options), options),
    get: (id, options) => metrics.get.run(() => records.get(id, options), options),
    list: (query, options) => metrics.list.run(() => records.list(query, options), options),
    update: (id, change, options) => metrics.update.run(() => records.update(id, change, options), options),
    delete: (id, options) => metrics.delete.run(() => records.delete(id, options), options),
  };
}
