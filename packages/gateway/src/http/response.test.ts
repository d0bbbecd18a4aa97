import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { endless } from '../testing/streams.ts';
import {
  headersOf,
  isWritableHeader,
  OutgoingResponse,
  reportedStream,
  requireResponse,
  ResponseControls,
  statusText,
  type Header,
} from './response.ts';

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

  it.each<[how: string, next: () => Uint8Array, error: unknown]>([
    ['complete', () => new Uint8Array(1), undefined],
    ['failing', throwNo, new Error('no')],
  ])('the end of a %s stream is reported once', async (_how, next, error) => {
    const { iterable, seen } = endless(next, 3);
    const ends: unknown[] = [];
    const iterator = reportedStream(iterable, (cause) => ends.push(cause))[Symbol.asyncIterator]();
    for (let requests = 0; requests < 5; requests += 1) await iterator.next().catch(() => {});
    expect(ends).toEqual([error]);
    await iterator.return?.();
    expect([ends.length, seen.returned]).toEqual([1, 1]);
  });
});

function throwNo(): never {
  throw new Error('no');
}

const head = { status: 200, headers: [] };

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

it('statusText returns the same phrases as STATUS_CODES of Node', () => {
  const statuses = Object.keys(STATUS_CODES).map(Number);
  expect(statuses.map(statusText)).toEqual(Object.values(STATUS_CODES));
});

it.each<Header>([
  ['x-a', ''],
  ['X-A', 'a b\tc'],
  ['location', '/ü'],
])('isWritableHeader accepts %s: %j, also when the name is cached', (name, value) => {
  expect(isWritableHeader([name, value])).toBe(true);
  expect(isWritableHeader([name, value])).toBe(true);
});

it.each<[name: unknown, value: unknown]>([
  ['x-a', 'a\r\nx-b: c'],
  ['x-a', 'a\n'],
  ['x-a', 'a\0'],
  ['x-a', 5],
  ['x-a', undefined],
  ['x a', 'b'],
  ['', 'b'],
  [5, 'b'],
  ['Connection', 'close'],
  ['content-length', '5'],
  ['Transfer-Encoding', 'chunked'],
  ['Trailer', 'x-checksum'],
])('isWritableHeader rejects %j: %j, also when the name is cached', (name, value) => {
  isWritableHeader([name, 'valid'] as unknown as Header);
  expect(isWritableHeader([name, value] as unknown as Header)).toBe(false);
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

it.each([
  ['X Total', '1'],
  ['x-total', '1\r\nx-other: 2'],
  ['Content-Length', '1'],
])('response.header and response.append reject the header %j with the value %j', (name, value) => {
  const controls = new ResponseControls();
  const message = `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Connection, Content-Length, Trailer and Transfer-Encoding are set by the server.`;
  expect(() => controls.header(name, value)).toThrow(new TypeError(message));
  expect(() => controls.append(name, value)).toThrow(new TypeError(message));
  expect(controls.headers).toEqual([]);
});

describe('OutgoingResponse', () => {
  const shared = [['content-type', 'text/plain']] as const;
  const create = (body?: OutgoingResponse['body']) => new OutgoingResponse(200, [['x-a', '1']], body, shared);

  it('header, append and delete do not modify the shared list', () => {
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

  it.each([199, 600, 200.5, NaN, '200'])('applyStatus rejects %j', (status) => {
    const response = create();
    response.status = status as number;
    expect(() => response.applyStatus()).toThrow(RangeError);
  });

  it.each([
    [200, 'body'],
    [201, 'body'],
    [204, undefined],
    [205, undefined],
    [304, undefined],
    [599, 'body'],
  ])('applyStatus of %i leaves the body %s', (status, body) => {
    const response = create('body');
    response.status = status;
    response.applyStatus();
    expect(response.body).toBe(body);
  });

  it('removeBody cancels a stream', async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    create(body as never).removeBody();
    await expect.poll(() => isCancelled).toBe(true);
  });
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
