import { type Animal, type Collection, type NewRecord, type Store, StoreError } from '@petstore/core';

/** A store of animals for runtimes without a disk: it ends with its process, and has no keys of its own. */
export function memoryStore(): Store {
  const rows: Animal[] = [];
  const reservations = new Map<string, { readonly values: string; readonly record: Animal }>();
  function add(values: NewRecord<Animal>): Animal {
    const fields = Object.entries(values).filter(([, value]) => value !== undefined);
    const record = { id: rows.length + 1, ...Object.fromEntries(fields) } as Animal;
    rows.push(record);
    return record;
  }
  const animals: Pick<Collection<Animal, 'status'>, 'create' | 'createOnce' | 'get' | 'list'> = {
    create: async (values) => add(values),
    async createOnce(values, { caller, key }) {
      const name = JSON.stringify([caller, key]);
      const text = JSON.stringify(values);
      const earlier = reservations.get(name);
      if (earlier !== undefined) {
        if (earlier.values !== text)
          throw new StoreError('key-reused', 'The key was used with other values.');
        return { record: earlier.record, isReplay: true };
      }
      const record = add(values);
      reservations.set(name, { values: text, record });
      return { record, isReplay: false };
    },
    get: (id) => rows[id - 1],
    list({ limit, cursor = 0, where: { status } = {} }) {
      const matches = rows.filter(
        (animal) => animal.id > cursor && (status === undefined || animal.status === status),
      );
      return { records: matches.slice(0, limit), hasNext: matches.length > limit };
    },
  };
  return {
    // The pet store's procedures use nothing else of a store.
    collection: (() => animals) as unknown as Store['collection'],
    keys: { find: () => undefined } as unknown as Store['keys'],
    ready: () => {},
    close: async () => {},
  };
}
