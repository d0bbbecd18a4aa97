import { type Store, StoreError } from '@petstore/core';
import type { ServiceLog } from 'trpc-gateway-runtime';
import { eventChannel, type EventChannel, type EventLog } from 'trpc-gateway-shared';
import { Adoption, adoptions, AnimalChange, type StoredAdoption } from './records.ts';

/** The key of all events: subscribers choose by category, and an animal may move to another one. */
export const allEvents = 'all';

/** How long the process that stored or claimed an adoption has to publish it before others do, in milliseconds. */
const publishMs = 10_000;

/** How often a process looks for adoptions that are not published, in milliseconds. */
const lookMs = 5_000;

/** Texts of records are limited by the body of a request alone, 1 MiB. Each record that is stored can thus be published. */
const maxEventSize = 2_097_152;

/** How much of their events is kept. */
const keptBytes = 67_108_864;

interface ShelterEventsOptions {
  readonly eventLog: EventLog;
  readonly store: Store;
  readonly log: ServiceLog;
}

/** The events of the shelter, which reach the subscribers of all processes that share the event log. */
export class ShelterEvents {
  readonly animals: EventChannel<AnimalChange>;
  readonly adoptions: EventChannel<Adoption>;
  readonly #store: Store;
  readonly #log: ServiceLog;

  constructor({ eventLog, store, log }: ShelterEventsOptions) {
    this.animals = eventChannel({
      log: eventLog,
      name: 'animals',
      event: AnimalChange,
      keep: { bytes: keptBytes },
      maxEventSize,
    });
    this.adoptions = eventChannel({
      log: eventLog,
      name: 'adoptions',
      event: Adoption,
      keep: { events: 10_000, bytes: keptBytes, ms: 30 * 86_400_000 },
      maxEventSize,
    });
    this.#store = store;
    this.#log = log;
  }

  /**
   * Publishes a change that is stored. If the process dies in between, or the event log fails, the event is lost: clients
   * only display animals, and see the change when they load them again.
   */
  async changed(change: AnimalChange): Promise<void> {
    try {
      await this.animals.publish(allEvents, change);
    } catch (err) {
      this.#log.error({ err }, 'a change of an animal was stored, but not published');
    }
  }

  /**
   * Publishes an adoption that is stored with `isUnpublished`, and then removes this mark. No adoption may be missed: if the
   * process dies in between, or the event log fails, `publishLeft` of one other process publishes it, for the second time if
   * only the mark was not removed.
   */
  async adopted(adoption: StoredAdoption): Promise<void> {
    try {
      await this.adoptions.publish(allEvents, adoption);
      await this.#store.collection(adoptions).update(adoption.id, { isUnpublished: null, claimedAt: null });
    } catch (err) {
      this.#log.error({ err, adoption: adoption.id }, 'an adoption was stored, and is published later');
    }
  }

  /** Publishes what other processes have left, now and every 5 s. @returns a function that stops it */
  publishLeft(): () => Promise<void> {
    let looking = this.#look();
    const timer = setInterval(() => {
      looking = looking.then(() => this.#look());
    }, lookMs);
    return () => {
      clearInterval(timer);
      return looking;
    };
  }

  async #look(): Promise<void> {
    const before = new Date(Date.now() - publishMs).toISOString();
    try {
      const where = { isUnpublished: true } as const;
      const { records } = await this.#store.collection(adoptions).list({ limit: 100, where });
      for (const adoption of records.filter(({ adoptedAt, claimedAt = adoptedAt }) => claimedAt < before)) {
        if (await this.#claim(adoption)) await this.adopted(adoption);
      }
    } catch (err) {
      this.#log.error({ err }, 'adoptions that are not published could not be read or claimed');
    }
  }

  /** Claims an adoption that another process has left. @returns whether this process publishes it: of several, one does */
  async #claim({ id, version }: StoredAdoption): Promise<boolean> {
    try {
      const claimedAt = new Date().toISOString();
      await this.#store.collection(adoptions).update(id, { claimedAt }, { ifVersion: version });
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'version-mismatch') return false;
      throw error;
    }
  }
}
