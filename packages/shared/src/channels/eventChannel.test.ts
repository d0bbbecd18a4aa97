import { getEventListeners } from 'node:events';
import { initTRPC, type TrackedEnvelope } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { type GatewayMeta, resyncErrors } from 'trpc-gateway/procedures';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z40 } from 'zod-4.0';
import { cutLog } from '../events/testing/cutLog.ts';
import {
  beginning,
  type EventChannel,
  eventChannel,
  type EventLog,
  memoryEventLog,
  type SubscribeOptions,
} from '../index.ts';

const Change = z.object({ animal: z.string(), type: z.enum(['arrived', 'adopted']) });
type Change = z.output<typeof Change>;

/** Two more than are kept. */
const seven = ['1', '2', '3', '4', '5', '6', '7'];

const change = (animal: string): Change => ({ animal, type: 'arrived' });

function openChannel(log: EventLog = memoryEventLog()) {
  onTestFinished(() => log.close());
  return eventChannel({ log, name: 'changes', event: Change, keep: { events: 5 } });
}

/** The signal of a client, which leaves at the end of the test. */
function clientSignal(): AbortSignal {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  return controller.signal;
}

/** Subscribes a client to the channel of `north`. */
const subscribe = <Event, Snapshot = never>(
  channel: EventChannel<Event>,
  options: Partial<SubscribeOptions<Snapshot>> = {},
) => channel.subscribe<Snapshot>('north', { signal: clientSignal(), ...options });

async function take<T>(events: AsyncIterable<TrackedEnvelope<T>>, count: number) {
  const iterator = events[Symbol.asyncIterator]();
  const taken: { readonly id: string; readonly data: T }[] = [];
  while (taken.length < count) {
    const { done, value } = await iterator.next();
    if (done) throw new Error('The subscription has ended.');
    taken.push({ id: value[0], data: value[1] });
  }
  return taken;
}

async function publishAll(channel: ReturnType<typeof openChannel>, animals: readonly string[]) {
  const ids: string[] = [];
  for (const animal of animals) ids.push(await channel.publish('north', change(animal)));
  return ids;
}

describe('eventChannel', () => {
  it('subscribe yields the events of its key as tracked events with the ids of publish', async () => {
    const channel = openChannel();
    const events = await subscribe(channel);
    await channel.publish('south', change('Mia'));
    const ids = await publishAll(channel, ['Rex', 'Tom']);
    expect(await take(events, 2)).toEqual([
      { id: ids[0], data: change('Rex') },
      { id: ids[1], data: change('Tom') },
    ]);
  });

  it.each([undefined, ''])(
    'a subscriber with lastEventId %j gets an event that is published before its first next(), but not one from before subscribe',
    async (lastEventId) => {
      const channel = openChannel();
      await publishAll(channel, ['before']);
      const events = await subscribe(channel, { lastEventId });
      await publishAll(channel, ['Rex']);
      expect(await take(events, 1)).toMatchObject([{ data: { animal: 'Rex' } }]);
    },
  );

  it.each([
    { lastEventId: 'of an event', before: ['Rex', 'Tom'], missed: ['Tom'] },
    { lastEventId: 'of the beginning', before: ['Rex'], missed: ['Rex'] },
    { lastEventId: 'of the beginning of a channel without events', before: [], missed: [] },
  ])(
    'a subscriber with the id $lastEventId gets what it has missed, then live events',
    async ({ before, lastEventId: which, missed }) => {
      const channel = openChannel();
      const [first] = await publishAll(channel, before);
      const lastEventId = which === 'of an event' ? first : beginning;
      const events = await subscribe(channel, { lastEventId });
      const taken = take(events, missed.length + 1);
      await publishAll(channel, ['live']);
      expect((await taken).map(({ data }) => data.animal)).toEqual([...missed, 'live']);
    },
  );

  it.each([
    ['is no longer kept', (id: string) => id],
    ['is of another log', () => 'ffffffffffff-3'],
    ['no log has written', () => '__proto__'],
  ])('a subscriber whose id %s gets the error RESYNC, and continues with its id', async (_what, idOf) => {
    const channel = openChannel();
    const [first = ''] = await publishAll(channel, seven);
    const signal = clientSignal();
    const events = await channel.subscribe('north', { lastEventId: idOf(first), signal });
    const error: unknown = await take(events, 1).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ declaredCode: 'RESYNC', data: { lastEventId: first.replace(/1$/, '2') } });
    const { lastEventId } = (error as { data: { lastEventId: string } }).data;
    const rest = await take(await channel.subscribe('north', { lastEventId, signal }), 5);
    expect(rest.map(({ data }) => data.animal)).toEqual(['3', '4', '5', '6', '7']);
  });

  it('with a snapshot, a new subscriber begins with it, and its id continues there', async () => {
    const channel = openChannel();
    await publishAll(channel, ['before']);
    const snapshot = async () => ({ animals: ['before'] });
    const events = await subscribe(channel, { snapshot });
    await publishAll(channel, ['Rex']);
    const [first, second] = await take(events, 2);
    expect([first?.data, second?.data]).toEqual([{ animals: ['before'] }, change('Rex')]);
    const resumed = await subscribe(channel, { lastEventId: first?.id, snapshot });
    expect(await take(resumed, 1)).toEqual([second]);
  });

  it('with a snapshot, it takes the place of RESYNC, and the subscription goes on', async () => {
    const channel = openChannel();
    const [lastEventId] = await publishAll(channel, seven);
    const snapshot = () => 'all animals';
    const events = await subscribe(channel, { lastEventId, snapshot });
    const taken = await take(events, 6);
    const texts = taken.map(({ data }) => (typeof data === 'string' ? data : data.animal));
    expect(texts).toEqual(['all animals', ...seven.slice(2)]);
  });

  it.each([
    ['the error RESYNC', undefined, ['RESYNC', 'live']],
    ['a snapshot', () => 'all animals', ['all animals', 'live']],
  ])(
    'of many events that the schema of a later version rejects, a subscriber gets %s once, and continues after all',
    async (_what, snapshot, expected) => {
      const log = memoryEventLog();
      const earlier = eventChannel({ log, name: 'changes', event: z.object({ animal: z.string() }) });
      const channel = openChannel(log);
      let [lastEventId] = await publishAll(channel, ['Rex']);
      for (const animal of ['Tom', 'Mia', 'Kim']) await earlier.publish('north', { animal });
      const seen: string[] = [];
      while (seen.length < 2) {
        const events = await subscribe(channel, { lastEventId, ...(snapshot && { snapshot }) });
        try {
          for await (const [, data] of events) {
            seen.push(typeof data === 'string' ? data : data.animal);
            if (seen.length === 1) await publishAll(channel, ['live']);
            else break;
          }
        } catch (error) {
          seen.push('RESYNC');
          lastEventId = (error as { readonly data: { readonly lastEventId: string } }).data.lastEventId;
          await publishAll(channel, ['live']);
        }
      }
      expect(seen).toEqual(expected);
    },
  );

  /** A log that counts the readers that are open. */
  function countReaders(log: EventLog = memoryEventLog()) {
    const counted = {
      ...log,
      readers: 0,
      async *read(...args: Parameters<EventLog['read']>) {
        counted.readers += 1;
        try {
          yield* log.read(...args);
        } finally {
          counted.readers -= 1;
        }
      },
    };
    return counted;
  }

  it('a subscriber with a snapshot has one reader, however many events the schema has rejected', async () => {
    const log = countReaders();
    const earlier = eventChannel({ log, name: 'changes', event: z.object({ animal: z.string() }) });
    const channel = openChannel(log);
    const snapshot = () => 'all animals';
    const events = await subscribe(channel, { snapshot });
    const iterator = events[Symbol.asyncIterator]();
    const next = async () => (await iterator.next()).value?.[1];
    expect(await next()).toBe('all animals');
    for (const animal of ['Tom', 'Mia', 'Kim']) {
      await earlier.publish('north', { animal });
      expect(await next()).toBe('all animals');
    }
    await publishAll(channel, ['Rex']);
    expect(await next()).toEqual(change('Rex'));
    expect(log.readers).toBe(1);
  });

  it('a subscription that is never iterated holds no reader of the log', async () => {
    const log = countReaders();
    const channel = openChannel(log);
    await subscribe(channel);
    expect(log.readers).toBe(0);
    const events = await subscribe(channel);
    const taken = take(events, 1);
    await publishAll(channel, ['Rex']);
    expect(await taken).toMatchObject([{ data: { animal: 'Rex' } }]);
    expect(log.readers).toBe(1);
  });

  it('the iterator of a subscription that is left early ends its reader and removes its listener', async () => {
    const memory = memoryEventLog();
    const channel = openChannel(memory);
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const [lastEventId] = await publishAll(channel, ['Rex', 'Tom']);
    for await (const [, { animal }] of await channel.subscribe('north', { lastEventId, signal })) {
      expect([animal, listeners()]).toEqual(['Tom', 1]);
      break;
    }
    expect(listeners()).toBe(0);
  });

  it('publish rejects an event that does not match the schema, and stores nothing', async () => {
    const channel = openChannel();
    const events = await subscribe(channel);
    await expect(channel.publish('north', { animal: 'Rex', type: 'lost' } as never)).rejects.toThrow(
      'arrived',
    );
    await publishAll(channel, ['Tom']);
    expect(await take(events, 1)).toMatchObject([{ data: { animal: 'Tom' } }]);
  });

  it.each([
    // With the quotes of JSON, and two bytes for each letter.
    ['by default', {}, 'ä'.repeat(32_767), 'has 65537 bytes of JSON, more than 65536 (maxEventSize)'],
    ['that is set', { maxEventSize: 5 }, 'äa', 'has 6 bytes of JSON, more than 5 (maxEventSize)'],
  ])(
    'publish accepts events of the maximum size %s, and rejects larger ones with 413',
    async (_what, options, text, message) => {
      const channel = eventChannel({ log: memoryEventLog(), name: 'texts', event: z.string(), ...options });
      await channel.publish('north', text);
      const events = await subscribe(channel, { lastEventId: beginning });
      expect(await take(events, 1)).toMatchObject([{ data: text }]);
      await expect(channel.publish('north', `${text}b`)).rejects.toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        message: `The event for the channel texts ${message}. Shorten it.`,
      });
    },
  );

  it('keeps 4 MiB of the events of a key by default', async () => {
    const channel = eventChannel({ log: memoryEventLog(), name: 'x'.repeat(100), event: z.string() });
    const texts = Array.from({ length: 65 }, (_, at) => `${at}`.padEnd(65_534));
    const ids = await Promise.all(texts.map((text) => channel.publish('north', text)));
    expect(await take(await subscribe(channel, { lastEventId: ids[0] }), 64)).toHaveLength(64);
    await expect(take(await subscribe(channel, { lastEventId: beginning }), 1)).rejects.toThrow(
      'no longer kept',
    );
  });

  it('events may have a schema of zod 4.0, which has no codecs', async () => {
    const event = z40.object({ at: z40.iso.datetime() });
    const channel = eventChannel({ log: memoryEventLog(), name: 'visits', event });
    const events = await subscribe(channel);
    await channel.publish('north', { at: '2026-01-31T12:00:00Z' });
    expect(await take(events, 1)).toMatchObject([{ data: { at: '2026-01-31T12:00:00Z' } }]);
    await expect(channel.publish('north', { at: 'today' })).rejects.toThrow('Invalid ISO datetime');
  });

  it.each([
    ['zod', z],
    ['zod/mini', mini],
  ])('a codec of a schema of %s converts values to JSON and back', async (_, zod) => {
    const date = zod.codec(zod.iso.datetime(), zod.date(), {
      decode: (text) => new Date(text),
      encode: (value) => value.toISOString(),
    });
    const channel = eventChannel({ log: memoryEventLog(), name: 'visits', event: zod.object({ at: date }) });
    const events = await subscribe(channel);
    await channel.publish('north', { at: new Date(5) });
    expect(await take(events, 1)).toMatchObject([{ data: { at: new Date(5) } }]);
  });

  it('channels of different names and keys never share events', async () => {
    const log = memoryEventLog();
    const one = eventChannel({ log, name: 'a', event: z.string() });
    const other = eventChannel({ log, name: 'a.b', event: z.string() });
    const events = await one.subscribe('b:c', { signal: clientSignal() });
    await other.publish('c', 'other');
    await one.publish('b', 'other');
    await one.publish('b:c', 'own');
    expect(await take(events, 1)).toMatchObject([{ data: 'own' }]);
  });

  it('publish to a log that does not respond fails with 503, and says that the event may be stored', async () => {
    const away = cutLog(memoryEventLog());
    away.cut();
    const channel = openChannel(away.log);
    await expect(channel.publish('north', change('Rex'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: expect.stringContaining('whether it is stored is unknown'),
    });
  });

  it.each([
    ['RESYNC', {}],
    ['all animals', { snapshot: () => 'all animals' }],
  ])(
    'a new subscriber of a log that does not respond waits for it, then gets %s, with whose id it continues',
    async (expected, options) => {
      const away = cutLog(memoryEventLog());
      const respond = away.cut();
      const channel = openChannel(away.log);
      const signal = clientSignal();
      const first = take(await channel.subscribe('north', { ...options, signal }), 1).then(
        ([{ id, data } = { id: '', data: undefined }]) => [data, id],
        ({ data, declaredCode }) => [declaredCode, data.lastEventId],
      );
      respond();
      const [answer, lastEventId] = await first;
      expect(answer).toBe(expected);
      await publishAll(channel, ['Rex']);
      const rest = await channel.subscribe('north', { lastEventId, signal });
      expect(await take(rest, 1)).toMatchObject([{ data: change('Rex') }]);
    },
  );

  it('a subscription ends when its signal is aborted', async () => {
    const channel = openChannel();
    const controller = new AbortController();
    const events = await channel.subscribe('north', { signal: controller.signal });
    const pending = events[Symbol.asyncIterator]().next();
    controller.abort();
    expect(await pending).toMatchObject({ done: true });
  });

  it('a subscription whose log is closed fails with 503, since its end would say that nothing follows', async () => {
    const log = memoryEventLog();
    const events = await openChannel(log).subscribe('north', { signal: clientSignal() });
    const pending = take(events, 1).catch((error: unknown) => error);
    await log.close();
    expect(await pending).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('publish to a log that is closed fails with 503, and so do new subscriptions', async () => {
    const log = memoryEventLog();
    const channel = openChannel(log);
    await log.close();
    const signal = clientSignal();
    const unavailable = { code: 'SERVICE_UNAVAILABLE' };
    await expect(channel.publish('north', change('Rex'))).rejects.toMatchObject(unavailable);
    await expect(channel.subscribe('north', { signal })).rejects.toMatchObject(unavailable);
    const resumed = await channel.subscribe('north', { lastEventId: beginning, signal });
    await expect(take(resumed, 1)).rejects.toMatchObject(unavailable);
  });

  it.each<[options: object, message: string]>([
    [{ maxEventSize: 0 }, 'maxEventSize of the channel changes is 0. Set an integer of 1 or more.'],
    [{ keep: { bytes: 0 } }, 'keep.bytes of the channel changes is 0. Set an integer of 1 or more.'],
    [{ keep: { events: 0 } }, 'keep.events of the channel changes is 0. Set an integer of 1 or more.'],
    [{ keep: { ms: 1.5 } }, 'keep.ms of the channel changes is 1.5. Set an integer of 1 or more.'],
    [{ keep: { ms: Infinity } }, 'keep.ms of the channel changes is Infinity. Set an integer of 1 or more.'],
  ])('%o is rejected', (invalid, message) => {
    const options = { log: memoryEventLog(), name: 'changes', event: Change, ...invalid };
    expect(() => eventChannel(options)).toThrow(new TypeError(message));
  });

  it.each(['', 'a:b', 'ä', 'x'.repeat(101)])('the name %j of a channel is rejected', (name) => {
    expect(() => eventChannel({ log: memoryEventLog(), name, event: Change })).toThrow(
      /^The name ".*" is invalid/,
    );
  });
});

it('a procedure that returns a subscription ends over REST with the event resync, which OpenAPI 3.2 describes', async () => {
  const channel = openChannel();
  const [first = ''] = await publishAll(channel, seven);
  const t = initTRPC.meta<GatewayMeta>().create();
  const changes = t.procedure
    .meta({ openapi: { method: 'GET', path: '/changes', event: Change } })
    .input(z.object({ lastEventId: z.string().optional() }))
    .errors(resyncErrors)
    .subscription(({ input, signal }) => channel.subscribe('north', { ...input, signal }));
  const gateway = await createGateway({
    router: t.router({ changes }),
    createContext: () => ({}),
    document: { title: 'Shelters', version: '1.0.0', openapi: '3.2' },
    onResponse: () => {},
  });
  const response = await gateway.fetch('http://localhost/v1/changes', {
    headers: { 'last-event-id': first },
  });
  const [, data = ''] = /^event: resync\n(?:.*\n)*?data: (.*)\n/.exec(await response.text()) ?? [];
  expect(JSON.parse(data)).toEqual({
    code: 'RESYNC',
    message: 'Events are missing since they are no longer kept. Load the data again.',
    status: 410,
    data: { lastEventId: first.replace(/1$/, '2') },
  });
  const document = await (await gateway.fetch('http://localhost/openapi.json')).text();
  expect(document).toContain('"const":"resync"');
  expect(document).toContain('after `event: resync`');
});
