import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServerSentEvents, type ServerSentEventsOptions } from './serverSentEvents.ts';

const connected = 'event: connected\ndata: {}\n\n\n';
const ended = 'event: return\ndata: \n\n\n';

/** A body of these events, and what became of it. */
function eventsOf(events: AsyncIterable<unknown>, options: Partial<ServerSentEventsOptions> = {}) {
  const seen = { aborted: 0, watched: 0, revoke: () => {} };
  const body = new ServerSentEvents(events, {
    serialize: (data) => data,
    client: '{}',
    pingMs: undefined,
    maxDurationMs: undefined,
    maxEventBytes: 100_000,
    lastEventId: null,
    fail: (cause) => String(cause),
    watch: (onRevoked) => {
      seen.watched += 1;
      seen.revoke = onRevoked;
      return () => (seen.watched -= 1);
    },
    abort: () => (seen.aborted += 1),
    ...options,
  });
  const iterator = body[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await iterator.next();
    return value && Buffer.from(value).toString();
  };
  return { body, iterator, next, seen };
}

/** Events that are all the same, without end, and how many were asked for. */
function always(event: unknown, wait?: () => Promise<unknown>) {
  const seen = { asked: 0, ended: false };
  const events = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        seen.asked += 1;
        await wait?.();
        return { done: false as const, value: event };
      },
      return: async () => {
        seen.ended = true;
        return { done: true as const, value: undefined };
      },
    }),
  };
  return { events, seen };
}

describe('server-sent events', () => {
  it('that are at hand go out together, with the end', async () => {
    const { next, seen } = eventsOf(
      (async function* () {
        yield 1;
        yield 2;
      })(),
    );
    expect(await next()).toBe(`${connected}data: 1\n\n\ndata: 2\n\n\n${ended}`);
    expect(await next()).toBeUndefined();
    expect(seen).toMatchObject({ aborted: 0, watched: 0 });
  });

  it('of 16 KiB are all that is asked for before they are taken, and one more', async () => {
    const { events, seen } = always('x'.repeat(1000));
    const { next } = eventsOf(events);
    expect((await next())?.length).toBeLessThan(16_384 + 1100);
    await sleep(5);
    expect(seen.asked).toBe(17);
    const large = always('x'.repeat(20_000));
    await eventsOf(large.events).next();
    await sleep(5);
    expect(large.seen.asked).toBe(1);
  });

  it('that wait for something are asked for one at a time', async () => {
    const { events, seen } = always(1, () => sleep(5));
    const { next } = eventsOf(events);
    expect(await next()).toBe(connected);
    expect(await next()).toBe('data: 1\n\n\n');
    await sleep(30);
    expect(seen.asked).toBe(2);
  });

  it('without end let others run, however fast they are taken', async () => {
    const { next } = eventsOf(always('x'.repeat(100)).events);
    const others = { had: 0 };
    const timer = setInterval(() => (others.had += 1), 1);
    for (let taken = 0; others.had === 0 && taken < 10_000; taken += 1) await next();
    clearInterval(timer);
    expect(others.had).toBe(1);
  });

  it.each(['end', 'cut', 'return', 'revoke'] as const)(
    'are given up by %s: the subscription is ended, and its signal aborted',
    async (how) => {
      const { events, seen: source } = always(1, () => sleep(5));
      const { body, iterator, next, seen } = eventsOf(events);
      await next();
      const pending = next();
      if (how === 'return') await iterator.return?.();
      else if (how === 'revoke') seen.revoke();
      else body[how]();
      expect(await pending).toBeUndefined();
      expect(await next()).toBeUndefined();
      expect(source.ended).toBe(true);
      expect(seen).toMatchObject({ aborted: 1, watched: 0 });
    },
  );

  it('last as long as they may', async () => {
    const { events, seen: source } = always(1, () => sleep(1000));
    const { next, seen } = eventsOf(events, { maxDurationMs: 20 });
    expect(await next()).toBe(connected);
    expect(await next()).toBeUndefined();
    expect([source.ended, seen.aborted]).toEqual([true, 1]);
  });

  it('say that they live while there is none, and no sooner', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const event = Promise.withResolvers<void>();
    const { next } = eventsOf(always(1, () => event.promise).events, { pingMs: 20 });
    expect(await next()).toBe(connected);
    for (let ping = 0; ping < 2; ping += 1) {
      const given: unknown[] = [];
      const piece = next().then((text) => given.push(text));
      await vi.advanceTimersByTimeAsync(19);
      expect(given).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await piece;
      expect(given).toEqual(['event: ping\ndata: \n\n\n']);
    }
    event.resolve();
    expect(await next()).toContain('data: 1\n\n\n');
  });

  it('that are large are given all the same when a ping is due in the same turn', async () => {
    const large = 'x'.repeat(20_000);
    const { next } = eventsOf(
      (async function* () {
        for (let at = 0; at < 3; at += 1) {
          await sleep(10);
          yield large;
        }
      })(),
      { pingMs: 10 },
    );
    const given: string[] = [];
    for (let text = await next(); text !== undefined; text = await next()) given.push(text);
    expect(given.filter((text) => !text.includes('ping'))).toEqual([
      connected,
      `data: "${large}"\n\n\n`,
      `data: "${large}"\n\n\n`,
      `data: "${large}"\n\n\n`,
      ended,
    ]);
  });

  it('are over without a word where the subscription was aborted', async () => {
    const { next } = eventsOf(
      always(1, async () => {
        throw new DOMException('', 'AbortError');
      }).events,
    );
    expect([await next(), await next()]).toEqual([connected, undefined]);
  });

  it('that cannot be written are an error, and the subscription is ended', async () => {
    const { events, seen } = always(1n);
    const { next } = eventsOf(events, { fail: () => 'refused' });
    expect(await next()).toBe(`${connected}event: serialized-error\ndata: "refused"\n\n\n`);
    expect(await next()).toBeUndefined();
    expect(seen.ended).toBe(true);
  });

  it.each([
    ['gives no result', async () => undefined, `${connected}event: serialized-error\ndata: "refused"\n\n\n`],
    ['gives no promise', () => ({ done: true }), `${connected}${ended}`],
  ])('of an iterator that %s', async (_what, step, expected) => {
    const events = { [Symbol.asyncIterator]: () => ({ next: step as () => Promise<never> }) };
    const { next } = eventsOf(events, { fail: () => 'refused' });
    expect([await next(), await next()]).toEqual([expected, undefined]);
  });

  it('of an iterable that gives no iterator are an error', async () => {
    const events = {
      [Symbol.asyncIterator]: () => {
        throw new Error('no iterator');
      },
    };
    const { next } = eventsOf(events);
    expect(await next()).toContain('event: serialized-error\ndata: "Error: no iterator"');
    expect(await next()).toBeUndefined();
  });

  it('fail where nobody can say what failed, behind what there was', async () => {
    const { next, seen } = eventsOf(always(1n).events, {
      fail: () => {
        throw new Error('the formatter');
      },
    });
    expect(await next()).toBe(connected);
    await expect(next()).rejects.toThrow('the formatter');
    expect(seen.watched).toBe(0);
  });
});
