import type { ServiceLog } from 'trpc-gateway-runtime';
import { eventChannel, type EventLog } from 'trpc-gateway-shared';
import { Adoption, AnimalChange } from './records.ts';

/** The key of all events: subscribers choose by category, and an animal may move to another one. */
export const allEvents = 'all';

/** Texts of records are limited by the body of a request alone, 1 MiB. Each record that is stored can thus be published. */
const maxEventSize = 2_097_152;

/** How much of their events is kept. */
const keptBytes = 67_108_864;

/**
 * Events reach the subscribers of all processes that share the log. They are published after their change is stored. If the
 * process dies in between, or the log fails, the event is lost: clients see the change when they load the records again.
 */
export function shelterEvents(log: EventLog, serviceLog: ServiceLog) {
  const animals = eventChannel({
    log,
    name: 'animals',
    event: AnimalChange,
    keep: { bytes: keptBytes },
    maxEventSize,
  });
  const adoptions = eventChannel({
    log,
    name: 'adoptions',
    event: Adoption,
    keep: { events: 10_000, bytes: keptBytes, ms: 30 * 86_400_000 },
    maxEventSize,
  });
  const onError = (err: unknown) => serviceLog.error({ err }, 'a change was stored, but not published');
  return {
    animals,
    adoptions,
    /** Publishes a change that is stored. */
    changed: (change: AnimalChange) => animals.publish(allEvents, change).catch(onError),
    /** Publishes an adoption that is stored. */
    adopted: (adoption: Adoption) => adoptions.publish(allEvents, adoption).catch(onError),
  };
}
export type ShelterEvents = ReturnType<typeof shelterEvents>;
