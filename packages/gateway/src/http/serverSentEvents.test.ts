import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { endless, streamCallbacks } from '../testing/streams.ts';
import { ServerSentEvents, type EventFormat, type EventStreamOptions } from './serverSentEvents.ts';

const start = 'start\n\n';
const end = 'end\n\n';
const ping = 'ping\n\n';

/** Creates a stream of events, with counts of its aborts and watches. */
function streamOf(
  events: AsyncIterable<unknown>,
  options: Partial<EventStreamOptions> = {},
  format: Partial<EventFormat> = {},
) {
  const { callbacks, seen } = streamCallbacks();
  const completeFormat: EventFormat = {
    start,
    end,
    ping,
    event: (value) => `data: ${String(value)}\n\n`,
    error: (cause) => `error: ${String(cause)}\n\n`,
    ...format,
  };
  const body = new ServerSentEvents(events[Symbol.asyncIterator](), completeFormat, {
    pingMs: undefined,
    maxDurationMs: undefined,
    ...callbacks,
    ...options,
  });
  const iterator = body[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await iterator.next();
    return value && Buffer.from(value).toString();
  };
  return { body, iterator, next, seen };
}

/** Creates an endless iterable of one event, with counts of the calls of its iterator. */
const always = (event: unknown, wait?: () => Promise<unknown>) =>
  endless(async () => {
    await wait?.();
    return event;
  });

async function* values(...events: readonly unknown[]) {
  yield* events;
}

const throwing = (error: Error) => () => {
  throw error;
};

it('ServerSentEvents sends available events together, between the start and the end', async () => {
  const { next, seen } = streamOf(values(1, 2));
  expect(await next()).toBe(`${start}data: 1\n\ndata: 2\n\n${end}`);
  expect(await next()).toBeUndefined();
  expect(await next()).toBeUndefined();
  expect(seen).toMatchObject({ aborted: 0, watched: 0 });
});

it('ServerSentEvents requests at most one event more than 16 KiB before the text is taken', async () => {
  const { iterable: events, seen } = always('x'.repeat(1000));
  const { next } = streamOf(events);
  expect((await next())?.length).toBeLessThan(16_384 + 1100);
  await sleep(5);
  expect(seen.requested).toBe(17);
  const large = always('x'.repeat(20_000));
  await streamOf(large.iterable).next();
  await sleep(5);
  expect(large.seen.requested).toBe(1);
});

it('ServerSentEvents does not block the event loop when events are produced and taken immediately', async () => {
  const { next } = streamOf(always('x'.repeat(100)).iterable);
  const loop = { turns: 0 };
  const timer = setInterval(() => (loop.turns += 1), 1);
  for (let taken = 0; loop.turns === 0 && taken < 10_000; taken += 1) await next();
  clearInterval(timer);
  expect(loop.turns).toBe(1);
});

it('ServerSentEvents does not block the event loop when events that are formatted as no text are produced immediately', async () => {
  // Bounded, since nothing else would end it if it kept the event loop.
  const { iterable: events, seen } = endless(() => 1, 3_000_000);
  const { body, next } = streamOf(events, {}, { event: () => '' });
  expect(await next()).toBe(start);
  void next();
  await sleep(5);
  body.end();
  expect(seen.requested).toBeGreaterThan(100);
  expect(seen.requested).toBeLessThan(3_000_000);
});

it.each(['end', 'return', 'revoke'] as const)(
  'ServerSentEvents returns the iterator and aborts the subscription on %s',
  async (how) => {
    const event = Promise.withResolvers<void>();
    const { iterable: events, seen: source } = always(1, () => event.promise);
    const { body, iterator, next, seen } = streamOf(events);
    await next();
    const pending = next();
    if (how === 'return') await iterator.return?.();
    else if (how === 'revoke') seen.revoke();
    else body.end();
    expect(await pending).toBeUndefined();
    event.resolve();
    await sleep(10);
    expect(await next()).toBeUndefined();
    body.end();
    expect(source).toEqual({ requested: 1, returned: 1 });
    expect(seen).toMatchObject({ aborted: 1, watched: 0 });
  },
);

it('ServerSentEvents sends nothing after its end, even if a pending event is formatted later', async () => {
  const event = Promise.withResolvers<string>();
  const { body, next } = streamOf(always(1).iterable, {}, { event: () => event.promise });
  expect(await next()).toBe(start);
  body.end();
  event.resolve('late\n\n');
  await sleep(5);
  expect(await next()).toBeUndefined();
});

it('ServerSentEvents keeps no timer after its end', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { next } = streamOf(values(1), { maxDurationMs: 1000, pingMs: 10 });
  while ((await next()) !== undefined);
  expect(vi.getTimerCount()).toBe(0);
});

it('ServerSentEvents loses no event when a ping is due in the same turn', async () => {
  const large = 'x'.repeat(20_000);
  const source = (async function* () {
    for (let at = 0; at < 3; at += 1) {
      await sleep(10);
      yield large;
    }
  })();
  const { next } = streamOf(source, { pingMs: 10 });
  // Joined: how much of it is sent at a time depends on the load of the machine.
  let received = '';
  for (let text = await next(); text !== undefined; text = await next()) received += text;
  const event = `data: ${large}\n\n`;
  expect(received.replaceAll(ping, '')).toBe(`${start}${event}${event}${event}${end}`);
});

it.each([
  ['throws', throwing(new Error('not written'))],
  ['rejects', async () => throwing(new Error('not written'))()],
])(
  'ServerSentEvents ends with an error and returns the iterator when the formatter %s',
  async (_how, event) => {
    const { iterable: events, seen } = always(1);
    const { next } = streamOf(events, {}, { event });
    expect(await next()).toBe(`${start}error: Error: not written\n\n`);
    expect(await next()).toBeUndefined();
    expect(seen).toEqual({ requested: 1, returned: 1 });
  },
);

const error = `${start}error: Error: no\n\n`;
it.each([
  ['rejects', async () => throwing(new Error('no'))(), error],
  ['throws', throwing(new Error('no')), error],
  [
    'returns no result object',
    async () => undefined,
    expect.stringContaining(`${start}error: TypeError`) as string,
  ],
  [
    'returns a number',
    async () => 5,
    error.replace('Error: no', "TypeError: next() of the subscription's iterator returned no object."),
  ],
  ['returns no promise', () => ({ done: true }), `${start}${end}`],
])('ServerSentEvents ends without calling return when the iterator %s', async (_what, step, expected) => {
  const seen = { returned: 0 };
  const iterator = {
    next: step as () => Promise<never>,
    return: async () => {
      seen.returned += 1;
      return { done: true as const, value: undefined };
    },
  };
  const { next } = streamOf({ [Symbol.asyncIterator]: () => iterator });
  expect([await next(), await next()]).toEqual([expected, undefined]);
  expect(seen.returned).toBe(0);
});

it('ServerSentEvents rejects in a later turn than its last text when formatting the error throws', async () => {
  const { next, seen } = streamOf(
    always(1).iterable,
    {},
    { event: throwing(new Error('no')), error: throwing(new Error('the formatter')) },
  );
  expect(await next()).toBe(start);
  let isSameTurn = true;
  setImmediate(() => (isSameTurn = false));
  await expect(next()).rejects.toThrow('the formatter');
  expect([isSameTurn, seen.watched]).toEqual([false, 0]);
});
