// Hot path: wraps every store operation.
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallOptions, collections, type Store, StoreError, type StoreErrorCode } from '@petstore/core';
import { openedCollections } from '@petstore/core/store';
import { counter, type MetricFamily, gauge, Histogram, histogramFamily } from 'trpc-gateway-runtime/metrics';

/** The label `error`. `aborted`: the caller no longer waited. `other`: an unexpected error. */
type FailureReason = StoreErrorCode | 'aborted' | 'other';

/** Timeout of the readiness check in a scrape, so that a scrape does not wait for a database. */
const readyTimeoutMs = 1000;

class OperationMetrics {
  readonly latency = new Histogram();
  readonly failures = new Map<FailureReason, number>();

  /** Runs `call`, records its duration and returns its result. Synchronous results stay synchronous. */
  run<T>(call: () => T, options?: CallOptions): T {
    const start = performance.now();
    const onEnd = () => this.latency.observe((performance.now() - start) / 1000);
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
const KEY_OPERATIONS = ['find', 'add', 'addFirst', 'list', 'revoke', 'touch'] as const;

type MetricsOf<Name extends string> = Readonly<Record<Name, OperationMetrics>>;

/** Measures the duration of store operations, per collection, and counts errors. */
export function createStoreMetrics() {
  const operations: {
    readonly labels: Readonly<Record<string, string>>;
    readonly operation: OperationMetrics;
  }[] = [];

  function metricsOf<Name extends string>(
    names: readonly Name[],
    labelsOf: (name: Name) => Readonly<Record<string, string>>,
  ): MetricsOf<Name> {
    const entries = names.map((name): [Name, OperationMetrics] => [name, new OperationMetrics()]);
    operations.push(...entries.map(([name, operation]) => ({ labels: labelsOf(name), operation })));
    // Every name has an entry.
    return Object.fromEntries(entries) as MetricsOf<Name>;
  }
  const metricsByCollection = new Map(
    collections.map((definition) => [
      definition.name,
      metricsOf(RECORD_OPERATIONS, (operation) => ({ collection: definition.name, operation })),
    ]),
  );
  const keyMetrics = metricsOf(KEY_OPERATIONS, (name) => ({ operation: `keys.${name}` }));

  return {
    /** @returns a store with measured operations */
    wrapStore: (store: Store): Store => ({
      ...store,
      collection: openedCollections(collections, (definition) =>
        measured(store.collection(definition), metricsByCollection.get(definition.name)),
      ),
      keys: measured(store.keys, keyMetrics),
    }),

    /** @param rememberedKeys number of valid API keys in the cache */
    async families(store: Pick<Store, 'ready'>, rememberedKeys: number): Promise<MetricFamily[]> {
      const isReady = await canServe(store);
      return [
        histogramFamily(
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

/** Returns a collection or the keys of a store with measured methods. Those with options have them as their last argument. */
function measured<Methods extends object, Name extends keyof Methods & string>(
  methods: Methods,
  metrics: MetricsOf<Name> | undefined,
): Methods {
  const wrapped = Object.entries<OperationMetrics>(metrics ?? {}).map(([name, operation]) => {
    const method = Reflect.get(methods, name) as (...args: readonly unknown[]) => unknown;
    return [
      name,
      (...args: readonly unknown[]) => operation.run(() => method(...args), args.at(-1) as CallOptions),
    ];
  });
  return { ...methods, ...Object.fromEntries(wrapped) };
}
