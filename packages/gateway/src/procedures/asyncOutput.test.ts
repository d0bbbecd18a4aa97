import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { eventFunction } from './asyncOutput.ts';

const rejected = z.int().refine(async () => false);

it.each([
  ['that is searched', z.looseObject({ n: rejected, rows: z.unknown() })],
  ['without iterables', z.object({ n: rejected })],
])(
  'eventFunction ends an iterable in an event that an asynchronous check of a schema %s rejects',
  async (_, schema) => {
    const parse = eventFunction(schema);
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
  },
);
