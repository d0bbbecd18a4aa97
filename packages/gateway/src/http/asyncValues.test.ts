import { expect, it, vi } from 'vitest';
import { discardOutput } from './asyncValues.ts';

it('discardOutput does not read the members of bytes', () => {
  const keys = vi.spyOn(Object, 'keys');
  discardOutput(new Uint8Array(1));
  expect(keys).not.toHaveBeenCalled();
  keys.mockRestore();
});

it('discardOutput ends the iterables of an output that contains itself, before a getter that throws', () => {
  const end = vi.fn();
  const broken = {
    get it(): never {
      throw new Error('broken');
    },
  };
  const output: unknown[] = [{ [Symbol.asyncIterator]: () => ({ return: end }) }, broken];
  output.unshift(output);
  discardOutput(output);
  expect(end).toHaveBeenCalled();
});
