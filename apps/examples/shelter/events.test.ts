import { connectTools } from '@petstore/testing/connectTools';
import { describe, expect, test } from 'vitest';
import { newShelter, sharedShelter, type Shelter, stores } from './testing/newShelter.ts';
import { eventsOf, readEvents } from './testing/readEvents.ts';

interface Change {
  readonly type: string;
  readonly animalId: number;
  readonly eventId: string;
  readonly animal?: object;
}

/** Watches a category after an event until the client has `count` changes, and disconnects. */
type Watch = (shelter: Shelter, after: string, count: number) => Promise<readonly Change[]>;

const watchOverRest: Watch = async ({ origin }, lastEventId, count) => {
  const url = `${origin}/v1/animals/events?categoryId=1`;
  const events = await readEvents(url, count, { 'last-event-id': lastEventId });
  return events.map(({ data }) => data as Change);
};

/** One call for each change, as an agent does. */
const watchOverMcp: Watch = async ({ headers, origin }, lastEventId, count) => {
  const client = await connectTools(origin, { headers });
  const changes: Change[] = [];
  let after = lastEventId;
  while (changes.length < count) {
    const input = { categoryId: 1, limit: 1, lastEventId: after };
    const { content } = await client.callTool({ name: 'onAnimalChange', arguments: input });
    const [{ text }] = content as unknown as [{ readonly text: string }];
    const change = JSON.parse(text) as Change;
    after = change.eventId;
    changes.push(change);
  }
  return changes;
};

const summary = (changes: readonly Change[]) => changes.map(({ animalId, type }) => [type, animalId]);

describe.each(stores)('changes of animals on the %s store', (store) => {
  const shelter = sharedShelter(store);

  test('a client that watches a category gets each of its changes once and in order, over REST and MCP, live and after a disconnect', async () => {
    const { client } = shelter;
    const create = async (categoryId: number) =>
      (await client.createAnimal.mutate({ name: 'Rex', categoryId })).id;
    const [first, other, second] = [await create(1), await create(2), await create(1)];
    const before = await watchOverRest(shelter, '0', 2);
    expect(summary(before)).toEqual([
      ['created', first],
      ['created', second],
    ]);

    await client.updateAnimal.mutate({ animalId: other, name: 'Tom' });
    await client.updateAnimal.mutate({ animalId: first, name: 'Max' });
    await client.updateAnimal.mutate({ animalId: second, categoryId: 2 });
    await client.updateAnimal.mutate({ animalId: second, name: 'Mia' });
    await client.adoptAnimal.mutate({ animalId: first, adopter: 'Ada' });
    await client.deleteAnimal.mutate({ animalId: other });
    const last = String(before.at(-1)?.eventId);
    const missed = await watchOverRest(shelter, last, 4);
    expect(summary(missed)).toEqual([
      ['updated', first],
      // It has left the category.
      ['moved', second],
      ['updated', first],
      ['deleted', other],
    ]);
    expect(missed[2]).toMatchObject({ animal: { id: first, status: 'adopted', version: 3 } });
    expect(await watchOverMcp(shelter, last, 4)).toEqual(missed);

    const watches = [watchOverRest, watchOverMcp];
    const live = watches.map((watch) => watch(shelter, String(missed.at(-1)?.eventId), 2));
    await create(2);
    const later = await create(1);
    await client.deleteAnimal.mutate({ animalId: second });
    for (const changes of await Promise.all(live)) {
      expect(summary(changes)).toEqual([
        ['created', later],
        ['deleted', second],
      ]);
    }
  });

  test('a restart ends a stream without an event, and the next process continues it and repeats responses of idempotency keys', async () => {
    const own = await newShelter(store);
    const add = () => own.rest('POST', '/categories', { name: 'Dogs' }, { 'idempotency-key': 'key-1' });
    const category = await add();
    const { id: categoryId } = category.body;
    const stream = await fetch(`${own.origin}/v1/animals/events`, { headers: { 'last-event-id': '0' } });
    const events = eventsOf(stream);
    const { id } = await own.client.createAnimal.mutate({ name: 'Rex', categoryId });
    const { value: first } = await events.next();
    expect(first).toMatchObject({ event: 'message', data: { type: 'created', animalId: id } });
    const origin = await own.restart();
    expect(await events.next()).toMatchObject({ done: true });
    expect(await add()).toEqual({ ...category, isReplayed: true });
    const later = await own.rest('POST', '/animals', { name: 'Tom', categoryId });
    const headers = { 'last-event-id': String(first?.id) };
    const resumed = await readEvents(`${origin}/v1/animals/events`, 1, headers);
    expect(resumed).toMatchObject([{ event: 'message', data: { type: 'created', animalId: later.body.id } }]);
  });
});
