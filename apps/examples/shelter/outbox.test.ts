import { openEmbeddedStore } from '@petstore/embedded-store';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { type EventLog, memoryEventLog } from 'trpc-gateway-shared';
import { expect, onTestFinished, test, vi } from 'vitest';
import { allEvents, ShelterEvents } from './events.ts';
import { type Adoption, adoptions } from './records.ts';

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn(), fatal: vi.fn() };
const longAgo = '2026-11-23T18:00:00.000Z';

async function newStore() {
  const store = await openEmbeddedStore({ dataDir: await temporaryFolder(), collections: [adoptions] });
  onTestFinished(() => store.close());
  return store;
}

/** Stores an adoption that its process has not published. */
const leave = (store: Awaited<ReturnType<typeof newStore>>, other: { claimedAt?: string } = {}) =>
  store
    .collection(adoptions)
    .create({ animalId: 1, adopter: 'Ada', adoptedAt: longAgo, isUnpublished: true, ...other });

/** Lets processes look for what was left, at the same time, until each has looked once. */
async function lookOnce(processes: readonly ShelterEvents[]): Promise<void> {
  const stops = processes.map((events) => events.publishLeft());
  await Promise.all(stops.map((stop) => stop()));
}

/** Returns the ids of all adoptions that were published, in their order. */
async function publishedIds(events: ShelterEvents): Promise<readonly number[]> {
  const last: Adoption = { id: 1_000_000, animalId: 1, adopter: 'Ada', adoptedAt: longAgo };
  await events.adoptions.publish(allEvents, last);
  const ids: number[] = [];
  const { signal } = new AbortController();
  for await (const [, { id }] of await events.adoptions.subscribe(allEvents, {
    lastEventId: '0',
    signal,
  })) {
    if (id === last.id) break;
    ids.push(id);
  }
  return ids;
}

test('of four processes that look at the same time, one publishes each adoption that was left', async () => {
  const store = await newStore();
  const eventLog = memoryEventLog();
  const processes = Array.from({ length: 4 }, () => new ShelterEvents({ eventLog, store, log }));
  const left = [await leave(store), await leave(store)];
  await lookOnce(processes);
  await lookOnce(processes);
  const ids = await publishedIds(new ShelterEvents({ eventLog, store, log }));
  expect(ids.toSorted((a, b) => a - b)).toEqual(left.map(({ id }) => id));
  expect(log.error).not.toHaveBeenCalled();
});

test('an adoption that another process is publishing is left to it for 10 s, and then published', async () => {
  const store = await newStore();
  const events = new ShelterEvents({ eventLog: memoryEventLog(), store, log });
  await leave(store, { claimedAt: new Date().toISOString() });
  const { id } = await leave(store, { claimedAt: longAgo });
  await lookOnce([events]);
  expect(await publishedIds(events)).toEqual([id]);
});

test('an adoption that could not be published keeps its mark, and is published when the event log works again', async () => {
  const store = await newStore();
  const eventLog = memoryEventLog();
  const failing: EventLog = { ...eventLog, append: () => Promise.reject(new Error('The disk is full.')) };
  const { id } = await leave(store);
  await lookOnce([new ShelterEvents({ eventLog: failing, store, log })]);
  expect(log.error).toHaveBeenCalledOnce();
  log.error.mockClear();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 });
  onTestFinished(() => void vi.useRealTimers());
  const events = new ShelterEvents({ eventLog, store, log });
  await lookOnce([events]);
  expect(await publishedIds(events)).toEqual([id]);
});
