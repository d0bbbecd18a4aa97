import type { Collection } from 'mongodb';
import type { CounterSource } from './counter.ts';
import type { CounterRow, KeyRow, MetaRow, RecordRow, ReservationRow } from './rows.ts';

/** What is kept in the database. */
export interface Collections {
  /** The records of a collection, by its name. */
  readonly records: (name: string) => Collection<RecordRow>;
  readonly keys: Collection<KeyRow>;
  readonly reservations: Collection<ReservationRow>;
  readonly counters: Collection<CounterRow>;
  readonly meta: Collection<MetaRow>;
}

/** What the ids of a collection are taken from, and what they are given to. */
export const counterSource = ({ counters, records }: Collections, name: string): CounterSource => ({
  name,
  counters,
  records: records(name),
});
