import {
  type Collection,
  type CollectionDefinition,
  type Store,
  type StoredRecord,
  StoreError,
} from '@petstore/core';
import { TRPCError } from '@trpc/server';
import { z } from 'zod';

/** A record, as relations see it. */
interface RelatedRecord extends StoredRecord {
  readonly version: number;
  readonly isClosing?: true;
}

/** A field of one collection that has the id of a record of another. */
export interface Relation {
  /** Its records are versioned. */
  readonly from: CollectionDefinition<StoredRecord & { readonly version: number }>;
  /** One of the indexes of `from`. */
  readonly field: string;
  /** Its records are versioned and have the field `isClosing`. */
  readonly to: CollectionDefinition<RelatedRecord>;
}

/** A field of stored records to which others may refer. It is set while one is being deleted, and no output has it. */
export const isClosing = z.literal(true).exactOptional();

/**
 * A store that keeps relations: what a record refers to exists, and a record to which others refer is not deleted. What
 * would break a relation is a `CONFLICT`, and nothing is stored.
 *
 * A store changes one record at a time, so this holds also between processes by an order of reads and writes. A delete
 * closes the record before it looks for those that refer to it. A write checks what it refers to before and after it. Of
 * a delete and a write at the same time at least one sees the other and takes back what it did. A process that is killed
 * between the write and its second check may leave a record that refers to nothing; one that is killed in a delete leaves
 * a closed record, which the next delete removes.
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
  // The same records: those of a relation are versioned.
  const related = records as unknown as Collection<RelatedRecord>;

  /** @throws {TRPCError} CONFLICT where values refer to a record that does not exist, or that is being deleted */
  async function checkReferences(values: Readonly<Record<string, unknown>>): Promise<void> {
    for (const { field, to } of references) {
      const id = values[field];
      if (typeof id !== 'number') continue;
      const record = await store.collection(to).get(id);
      if (record !== undefined && record.isClosing === undefined) continue;
      throw conflict(`${field}: there is no ${to.recordName} with this id.`);
    }
  }

  /** @throws {TRPCError} CONFLICT where others refer to this record */
  async function checkReferrers(id: number): Promise<void> {
    for (const { from, field, to } of referrers) {
      const where = { [field]: id } as Record<string, never>;
      const found = await store.collection(from).list({ limit: 1, where });
      if (found.records.length > 0) throw conflict(`The ${to.recordName} still has ${from.name}.`);
    }
  }

  /** Closes a record: what is written from then on cannot refer to it. */
  async function close(id: number, ifVersion: number | undefined): Promise<RelatedRecord | undefined> {
    for (;;) {
      const record = await related.get(id);
      if (record === undefined) return undefined;
      // Another delete has closed it, which is under way or was killed.
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
      // First without closing it, which counts as a change.
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
