import type { CollectionDefinition, StoredRecord } from './collection.ts';
import type { Collection, Store } from './store.ts';

/** Creates a store's collections, and returns its `collection`. @param create creates one of them */
export function openedCollections(
  definitions: readonly CollectionDefinition[],
  create: (definition: CollectionDefinition) => Collection<StoredRecord, string>,
): Store['collection'] {
  const created = new Map<unknown, unknown>(
    definitions.map((definition) => [definition, create(definition)]),
  );
  return <Stored extends StoredRecord, Indexed extends string>(
    definition: CollectionDefinition<Stored, Indexed>,
  ) => {
    const collection = created.get(definition);
    if (collection === undefined) {
      throw new TypeError(
        `The store was opened without the collection ${definition.name}. Add it to the option collections.`,
      );
    }
    // The collection was created from this definition.
    return collection as Collection<Stored, Indexed>;
  };
}
