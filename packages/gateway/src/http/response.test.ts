import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { endless } from '../testing/streams.ts';
import { headersOf, OutgoingResponse, reportedStream } from './response.ts';

it('return of a reported stream reports the end at once, even if the source never returns', async () => {
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

it('return of a reported stream disposes of an iterator that has Symbol.asyncDispose', async () => {
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

it.each<[how: string, next: () => Promise<Uint8Array>, error: unknown]>([
  ['complete', async () => new Uint8Array(1), undefined],
  ['failing', async () => Promise.reject(new Error('no')), new Error('no')],
])('the end of a %s stream is reported once', async (_how, next, error) => {
  const { iterable, seen } = endless(next, 3);
  const ends: unknown[] = [];
  const iterator = reportedStream(iterable, (cause) => ends.push(cause))[Symbol.asyncIterator]();
  for (let requests = 0; requests < 5; requests += 1) await iterator.next().catch(() => {});
  await iterator.return?.();
  expect([ends, seen.returned]).toEqual([[error], 1]);
});

const shared = [['content-type', 'text/plain']] as const;
const create = (body?: OutgoingResponse['body']) => new OutgoingResponse(200, [['x-a', '1']], body, shared);

it('header replaces earlier values in any case of the name, append keeps them, and neither changes the shared list', () => {
  const response = create();
  response.append('X-a', '2');
  response.append('X-B', '4');
  response.header('x-A', '3');
  response.append('x-b', '5');
  response.header('Content-Type', 'text/html');
  response.delete('missing');
  const all = [
    ['x-b', '4'],
    ['x-a', '3'],
    ['x-b', '5'],
    ['content-type', 'text/html'],
  ];
  expect(headersOf(response)).toEqual(all);
  response.delete('CONTENT-TYPE');
  expect(headersOf(response)).toEqual(all.slice(0, 3));
  expect(shared).toEqual([['content-type', 'text/plain']]);
});

it.each([
  ['before its first chunk', false],
  ['while its first chunk is awaited', true],
])('a reported stream of Node that is left %s is destroyed', async (_when, isPending) => {
  const source = new Readable({ read() {} });
  const iterator = reportedStream(source, () => {})[Symbol.asyncIterator]();
  if (isPending) iterator.next().catch(() => {});
  await iterator.return?.();
  expect(source.destroyed).toBe(true);
});
