import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { JsonLines, type LineOutcome } from './jsonLines.ts';

const never = new Promise<never>(() => {});

/** Lines of these outcomes, and what became of them. */
function linesOf(outcomes: readonly Promise<LineOutcome>[], pingMs?: number) {
  const seen = { aborted: 0, watched: 0, revoke: () => {}, failures: [] as unknown[] };
  const body = new JsonLines(outcomes, {
    serialize: undefined,
    pingMs,
    maxLineBytes: 100,
    fail: (cause, call) => {
      seen.failures.push(cause);
      return { failed: call };
    },
    watch: (onRevoked) => {
      seen.watched += 1;
      seen.revoke = onRevoked;
      return () => (seen.watched -= 1);
    },
    abort: () => (seen.aborted += 1),
  });
  const iterator = body[Symbol.asyncIterator]();
  const next = async () => {
    const { value } = await iterator.next();
    return value && Buffer.from(value).toString();
  };
  return { body, iterator, next, seen };
}

const data = async (value: unknown): Promise<LineOutcome> => ({ data: value });
const head = '{"0":[[0],[null,0,0]]}\n';
const toData = '[0,0,[[{"result":0}],["result",0,1]]]\n[1,0,[[{"data":0}],["data",0,2]]]\n';

/** Gives numbers, and says how many were asked for, and whether it was ended. */
function numbers() {
  const seen = { asked: 0, ended: false };
  const iterable = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false as const, value: (seen.asked += 1) }),
      return: async () => {
        seen.ended = true;
        return { done: true as const, value: undefined };
      },
    }),
  };
  return { iterable, seen };
}

describe('JSON lines', () => {
  it('that end in one turn go out together', async () => {
    const { next, seen } = linesOf([data({ a: 1 })]);
    expect(await next()).toBe(`${head}${toData}[2,0,[[{"a":1}]]]\n`);
    expect(await next()).toBeUndefined();
    expect(seen).toMatchObject({ aborted: 0, watched: 0 });
  });

  it('of a call that takes its time begin with the head', async () => {
    const { next } = linesOf([sleep(20, { data: 1 })]);
    expect(await next()).toBe(head);
    expect(await next()).toBe(`${toData}[2,0,[[1]]]\n`);
  });

  it('are sent up to one that cannot be written, which fails the rest', async () => {
    const { next, seen } = linesOf([data(1n), never]);
    expect(await next()).toContain('[1,0,[[{"data":0}],["data",0,3]]]\n'.replace('1,0', '2,0'));
    await expect(next()).rejects.toThrow('BigInt');
    expect(seen).toMatchObject({ aborted: 1, watched: 0, failures: [] });
  });

  it('give way to the error of their call where they are too large', async () => {
    const { next, seen } = linesOf([data('x'.repeat(100)), data('y')]);
    const text = await next();
    expect(text).toContain('[4,1,{"failed":0}]\n[5,0,[["y"]]]\n');
    expect(seen.failures).toMatchObject([{ code: 'PAYLOAD_TOO_LARGE' }]);
    expect(await next()).toBeUndefined();
  });

  it('of an iterable end with an error, and with the iterable, at a value that is too large', async () => {
    let isEnded = false;
    const iterable = (async function* () {
      try {
        yield 1;
        yield 'x'.repeat(100);
        yield 3;
      } finally {
        isEnded = true;
      }
    })();
    const { next, seen } = linesOf([data(iterable)]);
    let text = '';
    for (let piece = await next(); piece !== undefined; piece = await next()) text += piece;
    expect(text.split('\n').slice(-3)).toEqual(['[3,1,[[1]]]', '[3,2,{"failed":0}]', '']);
    expect([isEnded, seen.aborted]).toEqual([true, 0]);
  });

  it('a response of JSON lines ends after the error of an iterable whose return value is too large', async () => {
    const iterable = (async function* () {
      yield 1;
      return 'x'.repeat(100);
    })();
    const { next, seen } = linesOf([data(iterable)]);
    let text = '';
    for (let piece = await next(); piece !== undefined; piece = await next()) text += piece;
    expect(text.split('\n').slice(-3)).toEqual(['[3,1,[[1]]]', '[3,2,{"failed":0}]', '']);
    expect(seen).toMatchObject({ aborted: 0, failures: [{ code: 'PAYLOAD_TOO_LARGE' }] });
  });

  it('fail where nobody can say what failed', async () => {
    const body = new JsonLines([Promise.reject(new Error('the call'))], {
      serialize: undefined,
      pingMs: undefined,
      maxLineBytes: 100,
      fail: () => {
        throw new Error('the formatter');
      },
      watch: () => () => {},
      abort: () => {},
    });
    const iterator = body[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    await expect(iterator.next()).rejects.toThrow('the formatter');
  });

  it('of an iterable ask for its next value when the last was taken', async () => {
    const { iterable, seen } = numbers();
    const { next } = linesOf([data(iterable)]);
    expect(await next()).toBe(`${head}${toData}[2,0,[[0],[null,1,3]]]\n[3,1,[[1]]]\n`);
    await sleep(5);
    expect(seen.asked).toBe(1);
    expect(await next()).toBe('[3,1,[[2]]]\n');
  });

  it.each(['return', 'cut', 'revoke'] as const)(
    'are given up by %s: an iterable is ended, and calls are aborted',
    async (how) => {
      const { iterable, seen: source } = numbers();
      const { body, iterator, next, seen } = linesOf([data(iterable), never]);
      await next();
      if (how === 'return') await iterator.return?.();
      else if (how === 'cut') body.cut();
      else seen.revoke();
      expect(await next()).toBeUndefined();
      expect(source.ended).toBe(true);
      expect(seen).toMatchObject({ aborted: 1, watched: 0 });
    },
  );

  it('of an iterable without end let others run, however fast they are taken', async () => {
    const { next } = linesOf([data(numbers().iterable)]);
    const others = { had: 0 };
    const timer = setInterval(() => (others.had += 1), 1);
    for (let taken = 0; others.had === 0 && taken < 100_000; taken += 1) await next();
    clearInterval(timer);
    expect(others.had).toBe(1);
  });

  it('are given up while one is awaited', async () => {
    const { body, next, seen } = linesOf([never]);
    await next();
    const pending = next();
    body.cut();
    expect(await pending).toBeUndefined();
    expect(seen.aborted).toBe(1);
  });

  it('that were given up begin no stream that comes later', async () => {
    const { iterable, seen } = numbers();
    const { body, next } = linesOf([sleep(10, { data: iterable })]);
    await next();
    body.cut();
    await sleep(20);
    expect(seen.asked).toBe(0);
  });

  it('say that they live while there is nothing to say, where asked to', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const call = Promise.withResolvers<LineOutcome>();
    const { next } = linesOf([call.promise], 15);
    expect(await next()).toBe(head);
    for (let ping = 0; ping < 2; ping += 1) {
      const given: unknown[] = [];
      const piece = next().then((text) => given.push(text));
      await vi.advanceTimersByTimeAsync(14);
      expect(given).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      await piece;
      expect(given).toEqual([' ']);
    }
    call.resolve({ data: 1 });
    expect(await next()).toContain('[2,0,[[1]]]');
  });
});
