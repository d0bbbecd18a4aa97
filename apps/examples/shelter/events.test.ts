import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { hasRedis, startRedis } from '@petstore/testing/redis';
import {
  createTRPCClient,
  createWSClient,
  httpSubscriptionLink,
  type TRPCClientError,
  type TRPCLink,
  wsLink,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ShelterRouter } from './router.ts';
import { newShelter, stores } from './testing/newShelter.ts';
import { eventsOf, readEvents } from './testing/readEvents.ts';

interface Change {
  readonly type: string;
  readonly animalId: number;
}

interface WatchInput {
  readonly categoryId?: number | undefined;
  readonly lastEventId?: string | undefined;
}

interface Watched {
  readonly id: string | undefined;
  readonly data: Change;
}

/** Watches animals until the client has `count` changes, and disconnects. */
type Watch = (shelter: Shelter, input: WatchInput, count: number) => Promise<readonly Watched[]>;
type Shelter = Awaited<ReturnType<typeof newShelter>>;

const watchOverRest: Watch = async ({ headers, origin }, { categoryId, lastEventId }, count) => {
  const query = categoryId === undefined ? '' : `?categoryId=${categoryId}`;
  const events = await readEvents(`${origin}/v1/animals/events${query}`, count, {
    ...headers,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  });
  return events as readonly Watched[];
};

const watchWith =
  (linkTo: (shelter: Shelter) => TRPCLink<ShelterRouter>): Watch =>
  (shelter, input, count) =>
    new Promise((resolve, reject) => {
      const received: Watched[] = [];
      const client = createTRPCClient<ShelterRouter>({ links: [linkTo(shelter)] });
      const subscription = client.onAnimalChange.subscribe(input, {
        onData(event) {
          received.push(event);
          if (received.length < count) return;
          subscription.unsubscribe();
          resolve(received);
        },
        onError: reject,
      });
    });

const links = {
  'server-sent events': ({ headers, origin }: Shelter): TRPCLink<ShelterRouter> =>
    httpSubscriptionLink({ url: `${origin}/trpc`, connectionParams: headers, EventSource }),
  'a WebSocket': ({ headers, origin }: Shelter): TRPCLink<ShelterRouter> => {
    const url = `${origin.replace('http', 'ws')}/trpc`;
    const client = createWSClient({ url, connectionParams: headers });
    onTestFinished(() => client.close());
    return wsLink({ client });
  },
};

/** One call for each change, as an agent does. */
const watchOverMcp: Watch = async ({ headers, origin }, { categoryId, lastEventId }, count) => {
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const requestInit = { headers };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
  const received: Watched[] = [];
  let after = lastEventId;
  while (received.length < count) {
    const args = { ...(categoryId !== undefined && { categoryId }), limit: 1 };
    const { content } = await client.callTool({
      name: 'onAnimalChange',
      arguments: { ...args, ...(after !== undefined && { lastEventId: after }) },
    });
    const [{ text }] = content as unknown as [{ readonly text: string }];
    const result = JSON.parse(text) as Change & { readonly eventId: string };
    after = result.eventId;
    received.push({ id: after, data: result });
  }
  await client.close();
  return received;
};

const protocols: readonly (readonly [name: string, watch: Watch])[] = [
  ['REST', watchOverRest],
  ['tRPC on server-sent events', watchWith(links['server-sent events'])],
  ['tRPC on a WebSocket', watchWith(links['a WebSocket'])],
  ['MCP', watchOverMcp],
];

const summary = (events: readonly Watched[]) =>
  events.map(({ data: { animalId, type } }) => [type, animalId]);

const redis = hasRedis ? [{ store: 'embedded', log: 'Redis' } as const] : [];
const setups = [...stores.map((store) => ({ store, log: 'the folder' }) as const), ...redis];

describe.each(setups)('changes of animals in $log, on the $store store', ({ log, store }) => {
  let shelter: Shelter;
  let stopRedis = async () => {};
  beforeAll(async () => {
    const server = log === 'Redis' ? await startRedis() : undefined;
    if (server) stopRedis = () => server.remove();
    shelter = await newShelter(store, { redisUrl: server?.url });
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
    await shelter.client.createCategory.mutate({ name: 'Cats' });
  });
  afterAll(async () => {
    await shelter.close();
    await stopRedis();
  });

  const create = async (categoryId: number) =>
    (await shelter.client.createAnimal.mutate({ name: 'Rex', categoryId })).id;

  /** The id of the newest event. */
  async function newest(): Promise<string> {
    const animalId = await create(1);
    for (let lastEventId = '0'; ;) {
      const [event] = await watchOverRest(shelter, { lastEventId }, 1);
      lastEventId = String(event?.id);
      if (event?.data.animalId === animalId) return lastEventId;
    }
  }

  test.for(protocols)(
    'a client of %s that watches a category gets each of its changes once and in order, live, and after a disconnect',
    async ([, watch]) => {
      const start = await newest();
      const [first, other, second] = [await create(1), await create(2), await create(1)];
      const before = await watch(shelter, { categoryId: 1, lastEventId: start }, 2);
      expect(summary(before)).toEqual([
        ['created', first],
        ['created', second],
      ]);

      await shelter.client.updateAnimal.mutate({ animalId: other, name: 'Tom' });
      await shelter.client.updateAnimal.mutate({ animalId: first, name: 'Max' });
      await shelter.client.updateAnimal.mutate({ animalId: second, categoryId: 2 });
      await shelter.client.updateAnimal.mutate({ animalId: second, name: 'Mia' });
      await shelter.client.adoptAnimal.mutate({ animalId: first, adopter: 'Ada' });
      await shelter.client.deleteAnimal.mutate({ animalId: other });
      const missed = await watch(shelter, { categoryId: 1, lastEventId: before.at(-1)?.id }, 4);
      expect(summary(missed)).toEqual([
        ['updated', first],
        // It has left the category.
        ['moved', second],
        ['updated', first],
        ['deleted', other],
      ]);
      expect(missed[2]?.data).toMatchObject({ animal: { id: first, status: 'adopted', version: 3 } });

      const live = watch(shelter, { categoryId: 1, lastEventId: missed.at(-1)?.id }, 2);
      const [later] = [
        await create(1),
        await create(2),
        await shelter.client.deleteAnimal.mutate({ animalId: second }),
      ];
      expect(summary(await live)).toEqual([
        ['created', later],
        ['deleted', second],
      ]);
    },
  );

  test('a client without the scope of adoptions cannot resume them, over REST, tRPC and a WebSocket', async () => {
    const animalId = await create(1);
    await shelter.client.adoptAnimal.mutate({ animalId, adopter: 'Ada' });
    const url = `${shelter.origin}/v1/adoptions/events`;
    const [first] = await readEvents(url, 1, { ...shelter.headers, 'last-event-id': '0' });
    const lastEventId = String(first?.id);
    const headers = { authorization: `Bearer ${await shelter.token('eve', 'animals:write')}` };
    const rejected = await fetch(url, { headers: { ...headers, 'last-event-id': lastEventId } });
    expect([rejected.status, await rejected.json()]).toMatchObject([403, { code: 'FORBIDDEN' }]);
    for (const linkTo of Object.values(links)) {
      const client = createTRPCClient<ShelterRouter>({ links: [linkTo({ ...shelter, headers })] });
      const errors: TRPCClientError<ShelterRouter>[] = [];
      const received: unknown[] = [];
      const subscription = client.watchAdoptions.subscribe(
        { lastEventId },
        { onData: (event) => received.push(event), onError: (error) => errors.push(error) },
      );
      await expect.poll(() => errors.length).toBe(1);
      expect([errors[0]?.data?.httpStatus, received]).toEqual([403, []]);
      subscription.unsubscribe();
    }
  });

  test('a stream ends when the service stops, without an event, and continues in the next process', async () => {
    const own = await newShelter(store);
    onTestFinished(() => own.close());
    const { id: categoryId } = await own.client.createCategory.mutate({ name: 'Dogs' });
    const stream = await fetch(`${own.origin}/v1/animals/events`, { headers: { 'last-event-id': '0' } });
    const events = eventsOf(stream);
    const { id } = await own.client.createAnimal.mutate({ name: 'Rex', categoryId });
    const { value: first } = await events.next();
    expect(first).toMatchObject({ event: 'message', data: { type: 'created', animalId: id } });
    const origin = await own.restart();
    expect(await events.next()).toMatchObject({ done: true });
    const later = await own.rest('POST', '/animals', { name: 'Tom', categoryId });
    const headers = { 'last-event-id': String(first?.id) };
    const resumed = await readEvents(`${origin}/v1/animals/events`, 1, headers);
    expect(resumed).toMatchObject([{ event: 'message', data: { type: 'created', animalId: later.body.id } }]);
  });
});
