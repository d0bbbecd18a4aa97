import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { endless } from '../testing/streams.ts';
import { headersOf, OutgoingResponse, reportedStream, ResponseControls, statusText } from './response.ts';

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

it('statusText returns the same phrases as STATUS_CODES of Node', () => {
  const statuses = Object.keys(STATUS_CODES).map(Number);
  expect(statuses.map(statusText)).toEqual(Object.values(STATUS_CODES));
});

it('response.header replaces earlier values of a header, in any case of its name, and response.append keeps them', () => {
  const controls = new ResponseControls();
  controls.append('Link', 'a');
  controls.append('X-Total', '1');
  controls.append('link', 'b');
  expect(controls.headers).toEqual([
    ['link', 'a'],
    ['x-total', '1'],
    ['link', 'b'],
  ]);
  controls.header('LINK', 'c');
  expect(controls.headers).toEqual([
    ['x-total', '1'],
    ['link', 'c'],
  ]);
});

const shared = [['content-type', 'text/plain']] as const;
const create = (body?: OutgoingResponse['body']) => new OutgoingResponse(200, [['x-a', '1']], body, shared);

it('header, append and delete of OutgoingResponse do not modify the shared list', () => {
  const response = create();
  response.append('X-a', '2');
  response.header('x-A', '3');
  response.append('x-b', '4');
  response.header('Content-Type', 'text/html');
  response.delete('missing');
  expect(Object.fromEntries(headersOf(response))).toEqual({
    'x-a': '3',
    'x-b': '4',
    'content-type': 'text/html',
  });
  response.delete('CONTENT-TYPE');
  expect(response.get('content-type')).toBeUndefined();
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
