import { setTimeout as sleep } from 'node:timers/promises';
import { sortedLines } from '@petstore/testing/jsonLines';
import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { Failure, failureOf } from '../../procedures/execute.ts';
import { RequestOutcome } from '../../calls/requestOutcome.ts';
import { inProcessRequest } from '../../testing/inProcessRequest.ts';
import { endless, streamCallbacks, textOf } from '../../testing/streams.ts';
import { JsonLines, type JsonLinesOptions } from './jsonLines.ts';

const conflict = (message: string) => new TRPCError({ code: 'CONFLICT', message });
const shapeOf = (cause: unknown, call: number) => ({ message: (cause as Error).message, call });
const context = Object.assign(new AbortController(), {
  outcome: new RequestOutcome(),
  request: inProcessRequest('GET', '/'),
});

function linesOf(calls: number, options: Partial<JsonLinesOptions> = {}) {
  const { callbacks, seen: counts } = streamCallbacks();
  const seen = Object.assign(counts, { errors: [] as unknown[] });
  const lines = new JsonLines({
    serialize: undefined,
    maxLineBytes: 100,
    calls,
    pingMs: undefined,
    context,
    toError: (cause) => failureOf(cause).error,
    report: (error, call) => {
      if (call === undefined) seen.errors.push(error.cause ?? error);
    },
    shapeOf,
    ...callbacks,
    ...options,
  });
  let iterator: AsyncIterator<Uint8Array> | undefined;
  const next = async () => {
    iterator ??= lines[Symbol.asyncIterator]();
    const { value } = await iterator.next();
    return value && Buffer.from(value).toString();
  };
  return { lines, next, seen, leave: async () => iterator?.return?.() };
}

/** An endless iterable of numbers that counts how many were requested. */
const numbers = () => endless((requested) => requested);

const head = '{"0":[[0],[null,0,0]]}\n';
const toData = '[0,0,[[{"result":0}],["result",0,1]]]\n[1,0,[[{"data":0}],["data",0,2]]]\n';
const headOfTwo = '{"0":[[0],[null,0,0]],"1":[[0],[null,0,1]]}\n';
const tooLarge = 'x'.repeat(100);

it('the body is a stream if the outcomes are large, and encodes no more lines than are read', async () => {
  let encodedLines = 0;
  const serialize = (line: unknown) => {
    encodedLines += 1;
    return line;
  };
  const { lines } = linesOf(20, { serialize, maxLineBytes: 100_000 });
  for (let call = 0; call < 20; call += 1) lines.settle(call, 'x'.repeat(20_000));
  expect(encodedLines).toBe(1 + 4 * 3);
  expect(lines.body()).toBe(lines);
  expect(sortedLines(await textOf(lines))).toHaveLength(1 + 20 * 3);
});

it.each([
  [
    'a string if all calls end within one turn',
    async () => {
      for (let at = 0; at < 20; at += 1) await Promise.resolve();
    },
    'string',
  ],
  ['a stream if a call ends later', () => sleep(5), 'object'],
])('the body is %s', async (_what, end, type) => {
  const { lines } = linesOf(2);
  lines.settle(0, 1);
  void end().then(() => lines.settle(1, 2));
  const body = await lines.body();
  expect(typeof body).toBe(type);
  expect(sortedLines(await textOf(body))).toHaveLength(7);
});

it.each(['yields', 'returns'])('an iterable that %s too large a value ends with an error', async (how) => {
  let isClosed = false;
  const iterable = (async function* () {
    try {
      yield 1;
      if (how === 'returns') return tooLarge;
      yield tooLarge;
      yield 3;
    } finally {
      isClosed = true;
    }
    return 4;
  })();
  const { lines, seen } = linesOf(1);
  lines.settle(0, iterable);
  const text = await textOf(await lines.body());
  expect(text).toMatch(/\n\[3,1,\[\[1\]\]\]\n\[3,2,\{"message":"The response is larger.*","call":0\}\]\n$/);
  expect([isClosed, seen.aborted]).toEqual([true, 0]);
});

it('the next value of an iterable is requested when the previous one has been read', async () => {
  const { iterable, seen } = numbers();
  const { lines, next } = linesOf(1);
  lines.settle(0, iterable);
  expect(await lines.body()).toBe(lines);
  expect(await next()).toBe(`${head}${toData}[2,0,[[0],[null,1,3]]]\n[3,1,[[1]]]\n`);
  await sleep(5);
  expect(seen.requested).toBe(1);
  expect(await next()).toBe('[3,1,[[2]]]\n');
  expect(seen.requested).toBe(2);
});

it.each(['leave', 'cut', 'revoke'] as const)(
  'iterables are closed and calls are aborted on %s',
  async (how) => {
    const { iterable, seen: source } = numbers();
    const { lines, leave, next, seen } = linesOf(3);
    lines.settle(0, iterable);
    await lines.body();
    await next();
    if (how === 'leave') await leave();
    else if (how === 'cut') lines.cut();
    else seen.revoke();
    const late = numbers();
    lines.settle(1, late.iterable);
    lines.settle(2, { broken: Promise.reject(conflict('unheard')) });
    expect(await next()).toBeUndefined();
    expect([source.returned, late.seen.requested]).toEqual([1, 0]);
    expect(seen).toMatchObject({ aborted: 1, watched: 0, errors: [] });
  },
);

it('an iterator that ends after the client has disconnected is closed once', async () => {
  const last = Promise.withResolvers<IteratorResult<number>>();
  let returned = 0;
  const iterator = {
    next: () => last.promise,
    return: async () => {
      returned += 1;
      return { done: true as const, value: undefined };
    },
  };
  const { lines, next, leave, seen } = linesOf(1);
  lines.settle(0, { [Symbol.asyncIterator]: () => iterator });
  await next();
  await leave();
  last.resolve({ done: true, value: 1 });
  await sleep(1);
  expect([returned, seen.aborted]).toEqual([1, 1]);
});

it('no call is aborted if the client disconnects after all calls were settled', async () => {
  const { lines, leave, next, seen } = linesOf(2);
  await lines.body();
  expect(await next()).toBe(headOfTwo);
  lines.settle(0, 1);
  lines.settle(1, 1);
  await leave();
  expect(seen).toMatchObject({ aborted: 0, watched: 0 });
});

it('the error of a call is reported even if the client has disconnected', async () => {
  const reported: unknown[] = [];
  const { lines } = linesOf(1, { report: (error) => reported.push(error) });
  lines.cut();
  lines.settle(0, new Failure(conflict('aborted')));
  expect(reported).toMatchObject([{ message: 'aborted' }]);
});
