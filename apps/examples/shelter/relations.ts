import {
  type Collection,
  type CollectionDefinition,
  type Store,
  type StoredRecord,
  StoreError,
} from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** The fields of a record that relations use. */
interface RelatedRecord extends StoredRecord {
  readonly version: number;
  readonly isClosing?: true;
}

/** A field of one collection that references records of another collection by id. */
export interface Relation {
  /** The referring collection. Its records must be versioned. */
  readonly from: CollectionDefinition<StoredRecord & { readonly version: number }>;
  /** The referring field. It must be an index of `from`. */
  readonly field: string;
  /** The referenced collection. Its records must be versioned and have the field `isClosing`. */
  readonly to: CollectionDefinition<RelatedRecord>;
}

/** A field of referenced records. It is set while a record is being deleted, and is never part of an output. */
export const isClosing = z.literal(true).exactOptional();

/**
 * Wraps a store to keep relations: referenced records exist, and a record with referring records cannot be deleted. A write
 * that would break a relation is rejected with `CONFLICT` and stores nothing.
 *
 * A store changes one record at a time, so relations are kept by the order of reads and writes, also between processes. A
 * delete marks the record as closing before it looks for referring records. A write checks its references before and after
 * it. Of a concurrent delete and write, at least one sees the other and reverts its change. A process that is killed between
 * a write and its second check may leave a dangling reference. A process that is killed during a delete leaves a closing
 * record, which the next delete removes.
 */
export function relatedStore(store: Store, relations: readonly Relation[]): Store {
  return { ...store, collection: (definition) => relate(store, relations, definition) };
}

function relate<Stored extends StoredRecord, Indexed extends string>(
  store: Store,
  relations: readonly Relation[],
  definition: CollectionDefinition<Stored, Indexed>,
): Collection<Stored, Indexed> {
  const records = store.collection(definition);
  const references = relations.filter(({ from }) => from.name === definition.name);
  const referrers = relations.filter(({ to }) => to.name === definition.name);
  if (references.length + referrers.length === 0) return records;
  // The same records: records in relations are versioned.
  const related = records as unknown as Collection<RelatedRecord>;

  /** @throws {TRPCError} CONFLICT if values refer to a record that does not exist or is being deleted */
  async function checkReferences(values: Readonly<Record<string, unknown>>): Promise<void> {
    for (const { field, to } of references) {
      const id = values[field];
      if (typeof id !== 'number') continue;
      const record = await store.collection(to).get(id);
      if (record !== undefined && record.isClosing === undefined) continue;
      throw conflict(`${field}: there is no ${to.recordName} with this id.`);
    }
  }

  /** @throws {TRPCError} CONFLICT if other records refer to this record */
  async function checkReferrers(id: number): Promise<void> {
    for (const { from, field, to } of referrers) {
      const where = { [field]: id } as Record<string, never>;
      const referring = await store.collection(from).list({ limit: 1, where });
      if (referring.records.length > 0) throw conflict(`The ${to.recordName} still has ${from.name}.`);
    }
  }

  /** Marks a record as closing, so that later writes cannot refer to it. */
  async function close(id: number, ifVersion: number | undefined): Promise<RelatedRecord | undefined> {
    for (;;) {
      const record = await related.get(id);
      if (record === undefined) return undefined;
      // Another delete has marked it, and is still running or was killed.
      if (record.isClosing && ifVersion === undefined) return record;
      try {
        return await related.update(id, { isClosing: true }, { ifVersion: ifVersion ?? record.version });
      } catch (error) {
        const isLostRace = error instanceof StoreError && error.code === 'version-mismatch';
        if (ifVersion !== undefined || !isLostRace) throw error;
      }
    }
  }

  return {
    ...records,
    async create(values, options) {
      await checkReferences(values);
      const record = await records.create(values, options);
      try {
        await checkReferences(values);
      } catch (error) {
        await records.delete(record.id);
        throw error;
      }
      return record;
    },
    createOnce(values, reservation, options) {
      if (references.length === 0) return records.createOnce(values, reservation, options);
      throw new TypeError(`An idempotent create cannot keep the relations of ${definition.name}.`);
    },
    async update(id, change, options) {
      await checkReferences(change);
      const before = await related.get(id);
      const after = await records.update(id, change, options);
      if (before === undefined || after === undefined) return after;
      try {
        await checkReferences(change);
      } catch (error) {
        const values: Readonly<Record<string, unknown>> = { ...before };
        const earlier = Object.keys(change).map((field) => [field, values[field] ?? null]);
        // A lost race means that another change came after this one.
        const { version } = after as unknown as RelatedRecord;
        await related.update(id, Object.fromEntries(earlier), { ifVersion: version });
        throw error;
      }
      return after;
    },
    async delete(id, options) {
      if (referrers.length === 0) return records.delete(id, options);
      // Checks first without marking the record, because that would increment its version.
      await checkReferrers(id);
      const closed = await close(id, options?.ifVersion);
      if (closed === undefined) return false;
      try {
        await checkReferrers(id);
        return await related.delete(id, { ifVersion: closed.version });
      } catch (error) {
        await related.update(id, { isClosing: null });
        throw error;
      }
    },
  };
}

const conflict = (message: string) => new TRPCError({ code: 'CONFLICT', message });
