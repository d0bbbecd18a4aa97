import type { Collection } from 'mongodb';
import type { CounterSource } from './counter.ts';
import type { CounterRow, KeyRow, MetaRow, RecordRow, ReservationRow } from './rows.ts';

/** Collections of the database. */
export interface Collections {
  /** Returns the MongoDB collection with the records of a collection. */
  readonly records: (name: string) => Collection<RecordRow>;
  readonly keys: Collection<KeyRow>;
  readonly reservations: Collection<ReservationRow>;
  readonly counters: Collection<CounterRow>;
  readonly meta: Collection<MetaRow>;
}

/** Returns a collection of records and the counter of its ids. */
export const counterSource = ({ counters, records }: Collections, name: string): CounterSource => ({
  name,
  counters,
  records: records(name),
});
