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
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
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

/** Watches animals until the client has `count` changes, and disconnects. Rejects with the code of an error, and its data. */
type Watch = (shelter: Shelter, input: WatchInput, count: number) => Promise<readonly Watched[]>;
type Shelter = Awaited<ReturnType<typeof newShelter>>;

class WatchError extends Error {
  readonly data: unknown;

  constructor({ code, data }: { readonly code?: unknown; readonly data?: unknown }) {
    super(String(code));
    this.data = data;
  }
}

const watchOverRest: Watch = async ({ headers, origin }, { categoryId, lastEventId }, count) => {
  const query = categoryId === undefined ? '' : `?categoryId=${categoryId}`;
  const events = await readEvents(`${origin}/v1/animals/events${query}`, count, {
    ...headers,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  });
  const [{ event, data, id } = { event: '', data: undefined, id: undefined }] = events;
  if (event !== 'message') {
    expect([event, events.length]).toEqual(['resync', 1]);
    const body = data as { readonly data: { readonly lastEventId: string } };
    expect(id).toBe(body.data.lastEventId);
    throw new WatchError(body);
  }
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
        onError: ({ data }) => reject(new WatchError({ ...data })),
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
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    const { content, isError } = await client.callTool({
      name: 'onAnimalChange',
      arguments: { ...args, ...(after !== undefined && { lastEventId: after }) },
    });
    const [{ text }] = content as unknown as [{ readonly text: string }];
    const result = JSON.parse(text) as Change & { readonly eventId: string };
    if (isError === true) throw new WatchError(result as object);
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
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
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

  test.for(protocols)(
    'a client of %s whose events are missing gets one RESYNC, and continues with its id',
    async ([, watch]) => {
      const lastEventId = await newest();
      const unknown = lastEventId.replace(/^.*-/, 'ffffffffffff-');
      const error: unknown = await watch(shelter, { lastEventId: unknown }, 2).catch(
        (cause: unknown) => cause,
      );
      expect(error).toMatchObject({ message: 'RESYNC', data: { lastEventId: expect.any(String) } });
      const continued = (error as { data: { lastEventId: string } }).data;
      const [oldest, next] = await watch(shelter, continued, 2);
      expect(await watchOverRest(shelter, { lastEventId: '0' }, 2)).toMatchObject([oldest, next]);
    },
  );

  test.for(protocols)('a new client of %s gets the changes from then on', async ([, watch]) => {
    const animalId = await create(1);
    const watched = watch(shelter, {}, 1);
    // The position of the client is not known from outside: it gets one of these, and none from before.
    const isWatching = watched.then(
      () => false,
      () => false,
    );
    const soon = () => new Promise<boolean>((resolve) => setTimeout(resolve, 50, true));
    // oxlint-disable-next-line no-await-in-loop -- one change after the other
    while (await Promise.race([isWatching, soon()]))
      await shelter.client.updateAnimal.mutate({ animalId, name: 'Tom' });
    expect(summary(await watched)).toEqual([['updated', animalId]]);
  });

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
      // oxlint-disable-next-line no-await-in-loop -- one client after the other
      await expect.poll(() => errors.length).toBe(1);
      expect([errors[0]?.data?.httpStatus, received]).toEqual([403, []]);
      subscription.unsubscribe();
    }
  });

  test('a client with an invalid token cannot resume over MCP', async () => {
    const lastEventId = await newest();
    const response = await fetch(`${shelter.origin}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer of-eve' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'onAnimalChange', arguments: { lastEventId } },
      }),
    });
    expect(response.status).toBe(401);
  });

  test('a client that does not read gets what the network takes, and later all the rest, once and in order', async () => {
    const lastEventId = await newest();
    const animalId = await create(1);
    const deliveredBefore = await shelter.animalEvents('delivered_total');
    const headers = { ...shelter.headers, 'last-event-id': lastEventId };
    const response = await new Promise<IncomingMessage>((resolve) => {
      get(`${shelter.origin}/v1/animals/events`, { headers }, resolve);
    });
    onTestFinished(() => void response.destroy());
    const total = 100;
    const name = 'x'.repeat(300_000);
    for (let each = 0; each < total; each += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one change after the other
      await shelter.client.updateAnimal.mutate({ animalId, name });
    }
    const delivered = async () => (await shelter.animalEvents('delivered_total')) - deliveredBefore;
    // It has stopped to take events.
    await expect.poll(() => shelter.animalEvents('lag_seconds')).toBeGreaterThan(0.2);
    expect(await delivered()).toBeLessThan(total / 2);
    const versions: unknown[] = [];
    for await (const { data } of eventsOf(
      new Response(ReadableStream.from(response) as ReadableStream<Uint8Array>),
    )) {
      versions.push((data as { animal: { version: number } }).animal.version);
      if (versions.length === total + 1) break;
    }
    expect(versions).toEqual(Array.from({ length: total + 1 }, (_, at) => at + 1));
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

test.skipIf(!hasRedis)(
  'while Redis is away, the service is not ready, changes are stored, and clients continue or get RESYNC afterwards',
  async () => {
    const server = await startRedis();
    onTestFinished(() => server.remove());
    const shelter = await newShelter('embedded', { redisUrl: server.url });
    onTestFinished(() => shelter.close());
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
    expect(await shelter.notReady()).toBeUndefined();
    const client = new AbortController();
    onTestFinished(() => client.abort());
    const headers = { 'last-event-id': '0' };
    const events = eventsOf(
      await fetch(`${shelter.origin}/v1/animals/events`, { headers, signal: client.signal }),
    );
    await shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
    expect((await events.next()).value).toMatchObject({ data: { type: 'created', animalId: 1 } });
    // oxlint-disable-next-line no-console -- the gateway reports an unavailable state here
    const printed = vi.mocked(console.error).mockImplementation(() => {});
    await server.kill();
    await expect.poll(() => shelter.notReady()).toBe('events');
    expect((await shelter.client.createAnimal.mutate({ name: 'Tom', categoryId: 1 })).id).toBe(2);
    await expect.poll(() => shelter.animalEvents('rejected_total'), { timeout: 10_000 }).toBe(1);
    await server.start();
    await expect.poll(() => shelter.notReady()).toBeUndefined();
    // Another server may have lost events.
    expect((await events.next()).value).toMatchObject({ event: 'resync', data: { code: 'RESYNC' } });
    // Limits were counted by the process itself, which it reports.
    expect(printed.mock.calls.join()).toContain('state of rateLimit is unavailable');
    printed.mockClear();
  },
);
