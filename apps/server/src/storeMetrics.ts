// Hot path: every store operation goes through it.
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
import { counter, type MetricFamily, gauge, Latency, latencyFamily } from '@petstore/runtime/metrics';

/** Why an operation failed. `aborted`: nobody waited for it any more. `other`: a fault of the code. */
type Failure = StoreErrorCode | 'aborted' | 'other';

/** How long a store may take to say that it is ready, in milliseconds: who reads metrics does not wait for a database. */
const readyMs = 1000;

class Operation {
  readonly latency = new Latency();
  readonly failures = new Map<Failure, number>();

  /** @returns what `call` gives, as it is: what comes at once still does */
  run<T>(call: () => T, options?: CallOptions): T {
    const start = performance.now();
    const done = () => this.latency.observe(performance.now() - start);
    const failed = (error: unknown) => {
      done();
      const failure = failureOf(error, options);
      this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1);
    };
    try {
      const result = call();
      // Beside the caller's own wait, which is neither longer for it nor another.
      if (result instanceof Promise) result.then(done, failed);
      else done();
      return result;
    } catch (error) {
      failed(error);
      throw error;
    }
  }
}

function failureOf(error: unknown, options: CallOptions | undefined): Failure {
  if (error instanceof StoreError) return error.code;
  return options?.signal?.aborted === true ? 'aborted' : 'other';
}

const RECORD_OPERATIONS = ['create', 'createOnce', 'get', 'list', 'update', 'delete'] as const;
type RecordOperations = Readonly<Record<(typeof RECORD_OPERATIONS)[number], Operation>>;

/** Times the operations of a store, those of each collection by themselves, and counts those that fail. */
export function createStoreMetrics(collections: readonly CollectionDefinition[] = petStoreCollections) {
  const operations: {
    readonly labels: Readonly<Record<string, string>>;
    readonly operation: Operation;
  }[] = [];

  function operation(name: string, collection?: string): Operation {
    const added = new Operation();
    const labels = { ...(collection !== undefined && { collection }), operation: name };
    operations.push({ labels, operation: added });
    return added;
  }
  const timed = new Map(
    collections.map((definition): [CollectionDefinition, RecordOperations] => [
      definition,
      // Each name has its operation.
      Object.fromEntries(
        RECORD_OPERATIONS.map((name) => [name, operation(name, definition.name)]),
      ) as RecordOperations,
    ]),
  );
  const findKey = operation('keys.find');
  const addKey = operation('keys.add');
  const addFirstKey = operation('keys.addFirst');
  const listKeys = operation('keys.list');
  const revokeKey = operation('keys.revoke');
  const touchKey = operation('keys.touch');

  return {
    /** @returns the store, with its operations timed */
    wrapStore(store: Store): Store {
      const { keys } = store;
      const wrapped = new Map(
        Array.from(timed, ([definition, of]) => [
          definition,
          wrapCollection(store.collection(definition), of),
        ]),
      );
      return {
        collection<Stored extends StoredRecord, Indexed extends string>(
          definition: CollectionDefinition<Stored, Indexed>,
        ) {
          // It was made of this definition. One that is not timed is the store's own.
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

    /** @param rememberedKeys how many API keys are remembered as good */
    async families(store: Pick<Store, 'ready'>, rememberedKeys: number): Promise<MetricFamily[]> {
      const isReady = await canServe(store);
      return [
        latencyFamily(
          'petstore_store_operation_duration_seconds',
          'How long the operations of the store took, those that failed too.',
          operations.map(({ labels, operation: { latency } }) => [labels, latency]),
        ),
        counter(
          'petstore_store_errors_total',
          'Operations of the store that failed, by why.',
          operations.flatMap(({ labels, operation: { failures } }) =>
            Array.from(failures, ([error, value]) => ({ labels: { ...labels, error }, value })),
          ),
        ),
        gauge('petstore_store_ready', '1 where the store can serve, else 0.', isReady ? 1 : 0, 'min'),
        gauge('petstore_remembered_keys', 'API keys that are remembered as good.', rememberedKeys),
      ];
    },
  };
}

const canServe = (store: Pick<Store, 'ready'>): Promise<boolean> =>
  Promise.race([
    sleep(readyMs, false, { ref: false }),
    (async () => store.ready())().then(
      () => true,
      () => false,
    ),
  ]);

function wrapCollection<Stored extends StoredRecord, Indexed extends string>(
  records: Collection<Stored, Indexed>,
  of: RecordOperations,
): Collection<Stored, Indexed> {
  return {
    create: (values, options) => of.create.run(() => records.create(values, options), options),
    createOnce: (values, reservation, options) =>
      of.createOnce.run(() => records.createOnce(values, reservation, options), options),
    get: (id, options) => of.get.run(() => records.get(id, options), options),
    list: (query, options) => of.list.run(() => records.list(query, options), options),
    update: (id, change, options) => of.update.run(() => records.update(id, change, options), options),
    delete: (id, options) => of.delete.run(() => records.delete(id, options), options),
  };
}
