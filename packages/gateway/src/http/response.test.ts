import { STATUS_CODES } from 'node:http';
import { describe, expect, it } from 'vitest';
import { reportedStream, requireResponse, statusText } from './response.ts';

/** Starts a stream of three chunks, with counts of the calls of its iterator. */
function start({ failAt }: { failAt?: number } = {}) {
  const seen = { requested: 0, returned: 0, ended: 0 };
  const source = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        seen.requested += 1;
        if (seen.requested === failAt) throw new Error('no');
        return seen.requested > 3
          ? { done: true as const, value: undefined }
          : { done: false as const, value: new Uint8Array([seen.requested]) };
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
  it('return reports the end at once, even if the source never returns', async () => {
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

  it('return disposes of an iterator that has Symbol.asyncDispose', async () => {
    const seen: string[] = [];
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          seen.push('return');
          return { done: true as const, value: undefined };
        },
        [Symbol.asyncDispose]: async () => void seen.push('dispose'),
      }),
    };
    const reported = reportedStream(source, () => {});
    await reported[Symbol.asyncIterator]().return?.();
    expect(seen).toEqual(['dispose']);
  });

  it('the end is reported once, also after an error', async () => {
    const complete = start();
    for (let n = 0; n < 5; n += 1) await complete.iterator.next();
    expect(complete.seen.ended).toBe(1);
    const failing = start({ failAt: 1 });
    await expect(failing.iterator.next()).rejects.toThrow('no');
    await failing.iterator.return?.();
    expect(failing.seen).toMatchObject({ returned: 1, ended: 1 });
  });

  it('a reported stream has the method end only if its source has one', () => {
    const { iterator } = start();
    const source = { [Symbol.asyncIterator]: () => iterator };
    expect('end' in reportedStream(source, () => {})).toBe(false);
    let ends = 0;
    reportedStream({ ...source, end: () => (ends += 1) }, () => {}).end?.();
    expect(ends).toBe(1);
  });
});

const head = { status: 200, headers: [] };

it.each([undefined, null, '', new Uint8Array(1), new ReadableStream()])(
  'requireResponse accepts a response with the body %s',
  (body) => {
    const response = { ...head, body };
    expect(requireResponse(response, 'The route')).toBe(response);
  },
);

it.each([5, {}, ['a']])('requireResponse rejects a response with the body %j', (body) => {
  expect(() => requireResponse({ ...head, body }, 'The route')).toThrow(
    /^The route returned an object; .* whose body is a string, bytes or a stream/,
  );
});

it.each([undefined, 'ok', { headers: [] }, { status: '200', headers: [] }, { status: 200 }])(
  'requireResponse rejects %j',
  (value) => {
    expect(() => requireResponse(value, 'The route')).toThrow(/it must return a response, such as/);
  },
);

it('statusText returns the reason phrase of a status, and "Unknown" for one that has none', () => {
  expect([statusText(404), statusText(299)]).toEqual(['Not Found', 'Unknown']);
});

it('statusText returns the same phrases as STATUS_CODES of Node', () => {
  const statuses = Object.keys(STATUS_CODES).map(Number);
  expect(statuses.map(statusText)).toEqual(Object.values(STATUS_CODES));
});
