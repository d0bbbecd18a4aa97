// Loads the driver. Imported by name: in the bundle, a dynamic import of the driver has no names.
import { MongoClient } from 'mongodb';
import { mongodbState, type MongodbState } from 'trpc-gateway-shared/state/mongodb';

/** Opens the database's counters on use, not on start, and after a failure. Until then, it counts alone. */
export function mongodbCounters(uri: string, database: string): MongodbState {
  let opened: MongodbState | undefined;
  let opening: Promise<MongodbState> | undefined;

  function open(): Promise<MongodbState> {
    opening ??= mongodbState({ connect: () => new MongoClient(uri), database }).then(
      (state) => (opened = state),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  }

  return {
    add: async (...args) => (await open()).add(...args),
    set: async (...args) => (await open()).set(...args),
    delete: async (...args) => (await open()).delete(...args),
    // Not asynchronous: no call waits whose token this process has leased.
    take: (...args) => opened?.take(...args) ?? open().then((state) => state.take(...args)),
    async close() {
      const state = await opening?.catch(() => undefined);
      await state?.close();
    },
  };
}
