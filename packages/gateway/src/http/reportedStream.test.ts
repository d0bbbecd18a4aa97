import { describe, expect, it } from 'vitest';
import { reportedStream } from './reportedStream.ts';

/** A stream of three chunks, and what became of it. */
function start({ failAt }: { failAt?: number } = {}) {
  const seen = { asked: 0, returned: 0, ended: 0 };
  const source = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        seen.asked += 1;
        if (seen.asked === failAt) throw new Error('no');
        return seen.asked > 3
          ? { done: true as const, value: undefined }
          : { done: false as const, value: new Uint8Array([seen.asked]) };
      },
      async return() {
        seen.returned += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  const iterator = reportedStream(source, () => (seen.ended += 1))[Symbol.asyncIterator]();
  return { iterator, seen };
}

describe('a reported stream', () => {
  it('is over when it is given up, though its source never returns', async () => {
    const seen: unknown[] = [];
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: () => new Promise<never>(() => {}),
      }),
    };
    const reported = reportedStream(source, (error) => seen.push(error));
    void reported[Symbol.asyncIterator]().return?.();
    expect(seen).toEqual([undefined]);
  });

  it('reports its end once, also after a failure', async () => {
    const whole = start();
    for (let n = 0; n < 5; n += 1) await whole.iterator.next();
    expect(whole.seen.ended).toBe(1);
    const failing = start({ failAt: 1 });
    await expect(failing.iterator.next()).rejects.toThrow('no');
    await failing.iterator.return?.();
    expect(failing.seen).toMatchObject({ returned: 1, ended: 1 });
  });

  it('has the end of its source, where that has one', () => {
    const { iterator } = start();
    const source = { [Symbol.asyncIterator]: () => iterator };
    expect('end' in reportedStream(source, () => {})).toBe(false);
    let ends = 0;
    reportedStream({ ...source, end: () => (ends += 1) }, () => {}).end?.();
    expect(ends).toBe(1);
  });
});
