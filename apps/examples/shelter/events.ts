import type { ServiceLog } from 'trpc-gateway-runtime';
import { eventChannel, type EventChannel, type EventLog } from 'trpc-gateway-shared';
import { Adoption, AnimalChange } from './records.ts';

/** The key of all events: subscribers choose by category, and an animal may move to another one. */
export const allEvents = 'all';

/** Texts of records are limited by the body of a request alone, 1 MiB. Each record that is stored can thus be published. */
const maxEventSize = 2_097_152;

/** How much of their events is kept. */
const keptBytes = 67_108_864;

/**
 * The events of the shelter, which reach the subscribers of all processes that share the event log. They are published after
 * their change is stored. If the process dies in between, or the event log fails, the event is lost: clients see the change
 * when they load the records again.
 */
export class ShelterEvents {
  readonly animals: EventChannel<AnimalChange>;
  readonly adoptions: EventChannel<Adoption>;
  readonly #log: ServiceLog;

  constructor(eventLog: EventLog, log: ServiceLog) {
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
    this.#log = log;
  }

  /** Publishes a change that is stored. */
  changed(change: AnimalChange): Promise<void> {
    return this.#publish(this.animals, change);
  }

  /** Publishes an adoption that is stored. */
  adopted(adoption: Adoption): Promise<void> {
    return this.#publish(this.adoptions, adoption);
  }

  async #publish<Event>(channel: EventChannel<Event>, event: Event): Promise<void> {
    try {
      await channel.publish(allEvents, event);
    } catch (err) {
      this.#log.error({ err }, 'a change was stored, but not published');
    }
  }
}
