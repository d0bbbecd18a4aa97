import { describe, expect, it } from 'vitest';
import { pacedIterable } from './pacedIterable.ts';

/** A source that counts, and what became of it. */
function start({ failAt }: { failAt?: number } = {}) {
  const seen = { asked: 0, returned: 0, ended: 0 };
  const source = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        seen.asked += 1;
        if (seen.asked === failAt) throw new Error('no');
        return seen.asked > 3
          ? { done: true as const, value: undefined }
          : { done: false as const, value: seen.asked };
      },
      async return() {
        seen.returned += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  let release = () => {};
  const gate = {
    close: () => {
      gate.waiting = new Promise((resolve) => {
        release = () => {
          gate.waiting = undefined;
          resolve();
        };
      });
    },
    open: () => release(),
    waiting: undefined as Promise<void> | undefined,
  };
  const iterator = pacedIterable(
    source,
    () => gate.waiting,
    () => (seen.ended += 1),
  )[Symbol.asyncIterator]();
  return { iterator, gate, seen };
}

describe('a paced iterable', () => {
  it('asks its source for nothing while it must wait', async () => {
    const { iterator, gate, seen } = start();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    gate.close();
    const pending = iterator.next();
    await new Promise(setImmediate);
    expect(seen.asked).toBe(1);
    gate.open();
    expect(await pending).toEqual({ done: false, value: 2 });
  });

  it('asks no more of a source that was given up meanwhile', async () => {
    const { iterator, gate, seen } = start();
    gate.close();
    const pending = iterator.next();
    await iterator.return?.();
    gate.open();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(seen).toEqual({ asked: 0, returned: 1, ended: 1 });
  });

  it('is over when it is given up, though its source never returns', async () => {
    const seen: unknown[] = [];
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => new Promise<never>(() => {}),
      }),
    };
    const paced = pacedIterable(
      source,
      () => undefined,
      (error) => seen.push(error),
    );
    void paced[Symbol.asyncIterator]().return?.();
    expect(seen).toEqual([undefined]);
  });

  it('says once that it is over, at its end and after a failure', async () => {
    const whole = start();
    for (let n = 0; n < 5; n += 1) await whole.iterator.next();
    expect(whole.seen.ended).toBe(1);
    const failing = start({ failAt: 1 });
    await expect(failing.iterator.next()).rejects.toThrow('no');
    await failing.iterator.return?.();
    expect(failing.seen).toMatchObject({ returned: 1, ended: 1 });
  });
});
