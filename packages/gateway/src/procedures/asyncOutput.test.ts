import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { eventFunction, mayBeAsync } from './asyncOutput.ts';
import type { Parser } from './parseFunction.ts';

const owner = z.strictObject({
  name: z.string().trim().max(50).refine(Boolean),
  since: z.codec(z.string(), z.date(), { decode: (text) => new Date(text), encode: String }),
  pair: z.tuple([z.boolean(), z.enum(['a', 'b'])]).readonly(),
  get friends() {
    return z.record(z.string(), z.array(z.union([owner, z.void()]))).optional();
  },
});

it('mayBeAsync is false for a schema without promises and iterables, also a recursive one', () => {
  expect(mayBeAsync(owner)).toBe(false);
});

it.each<readonly [string, unknown]>([
  ['no schema', undefined],
  ['a schema of another library', { '~standard': { version: 1, vendor: 'test', validate: () => ({}) } }],
  ['an unknown member', z.object({ it: z.unknown() })],
  ['other members', z.looseObject({ id: z.int() })],
  ['items of any type', z.array(z.any())],
  ['an instance of a class', z.object({ it: z.instanceof(ReadableStream) })],
  ['a transform', z.object({ it: z.string().transform(async (text) => text) })],
  ['a promise', z.promise(z.int())],
  ['a lazy schema', z.lazy(() => z.int())],
  [
    'a getter that throws',
    z.object({
      get it(): z.ZodInt {
        throw new Error('not loaded');
      },
    }),
  ],
])('mayBeAsync is true for %s', (_, schema) => {
  expect(mayBeAsync(schema as Parser)).toBe(true);
});

it('eventFunction ends an iterable in an event that an asynchronous check rejects', async () => {
  const parse = eventFunction(z.object({ n: z.int().refine(async () => false) }));
  const ended = vi.fn<() => void>();
  const rows = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: 1 }),
      async return() {
        ended();
        return { done: true, value: undefined };
      },
    }),
  };
  await expect(parse({ n: 1, rows })).rejects.toThrow('Invalid input');
  await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce());
});
