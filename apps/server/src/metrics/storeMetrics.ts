// Hot path: every store operation goes through it.
import { type CallOptions, type Store, StoreError, type StoreErrorCode } from '@petstore/core';
import { counter, type Family } from './family.ts';
import { Latency, latencyFamily } from './latency.ts';

/** Why an operation failed. `aborted`: nobody waited for it any more. `other`: a fault of the code. */
type Failure = StoreErrorCode | 'aborted' | 'other';

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

/** Times the operations of a store, and counts those that fail. */
export function createStoreMetrics() {
  const operations = new Map<string, Operation>();

  function operation(name: string): Operation {
    const added = new Operation();
    operations.set(name, added);
    return added;
  }
  const create = operation('create');
  const createOnce = operation('createOnce');
  const get = operation('get');
  const list = operation('list');
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
      return {
        create: (pet, options) => create.run(() => store.create(pet, options), options),
        createOnce: (pet, reservation, options) =>
          createOnce.run(() => store.createOnce(pet, reservation, options), options),
        get: (id, options) => get.run(() => store.get(id, options), options),
        list: (query, options) => list.run(() => store.list(query, options), options),
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

    families(): Family[] {
      return [
        latencyFamily(
          'petstore_store_operation_duration_seconds',
          'How long the operations of the store took, those that failed too.',
          [...operations].map(([name, { latency }]) => [{ operation: name }, latency]),
        ),
        counter(
          'petstore_store_errors_total',
          'Operations of the store that failed, by why.',
          [...operations].flatMap(([name, { failures }]) =>
            [...failures].map(([error, value]) => ({ labels: { operation: name, error }, value })),
          ),
        ),
      ];
    },
  };
}
