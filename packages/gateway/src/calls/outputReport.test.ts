import { initTRPC } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import type { GatewayMeta } from '../procedures/meta.ts';
import { testGateway } from '../testing/testGateway.ts';

class Money {
  readonly #cents = 5;
  get euros() {
    return this.#cents / 100;
  }
}

// oxlint-disable-next-line no-console -- the lines are written there
const printer = () => vi.mocked(console.error);

/** Calls a procedure twice over REST and once over tRPC, and returns the lines. */
async function linesOf(output: unknown, isDev = true, openapi = true): Promise<unknown> {
  const t = initTRPC.meta<GatewayMeta>().create({ isDev });
  const router = t.router({ tags: t.procedure.meta({ openapi }).query(() => output) });
  const gateway = await testGateway(router, { onResponse: () => {} });
  for (const base of ['v1', 'v1', 'trpc']) await gateway.fetch(`http://localhost/${base}/tags`);
  return printer().mock.calls.splice(0);
}

it.each<[found: string, output: unknown]>([
  ['an instance of Set', new Set(['a'])],
  ['an instance of Map at "books.1.tags"', { books: [{}, { tags: new Map([['a', 1]]) }] }],
  ['an instance of Money at "price"', { price: new Money() }],
  ['an async iterable', (async function* () {})()],
  ['a promise at "owner"', { owner: Promise.resolve('Ada') }],
  ['a bigint at "id"', { id: 5n }],
  ['a function at "load"', { at: new Date(), load: () => 1 }],
])('in development, %s in the outputs of a procedure is one line', async (found, output) => {
  const line = `procedure "tags" has returned ${found}, which JSON does not have`;
  expect(await linesOf(output)).toEqual([[expect.stringContaining(line)]]);
  expect(await linesOf(output, false)).toEqual([]);
  // A transformer of tRPC may have it.
  expect(await linesOf(output, true, false)).toEqual([]);
});

it('JSON, an instance with properties, and what is an error of JSON.stringify, are no line', async () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const bare: unknown = Object.create(Object.create(null) as object);
  const json = { at: new Date(), none: undefined, list: [null, 1], bare: Object.create(null) as object };
  const throwing = {
    get title() {
      throw new Error('a getter of the output');
    },
  };
  class Book {
    title = 'Emma';
  }
  const size = Object.assign(() => 5, { toJSON: () => '5' });
  for (const output of [json, { size }, circle, throwing, [new Book()], { a: bare }])
    expect(await linesOf(output)).toEqual([]);
});
