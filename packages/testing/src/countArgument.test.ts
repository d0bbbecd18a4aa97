import { expect, test } from 'vitest';
import { countArgument } from './countArgument.ts';

test('countArgument reads a positive integer, and is the default without a text', () => {
  expect(countArgument('rounds', '3', 50)).toBe(3);
  expect(countArgument('rounds', undefined, 50)).toBe(50);
});

test.each(['', '0', '-1', '1.5', '1e3', 'three', '3 ', '9'.repeat(16)])(
  'countArgument rejects %j',
  (text) => {
    expect(() => countArgument('rounds', text, 50)).toThrow(
      `rounds is ${JSON.stringify(text)}. It must be a positive integer, such as 50.`,
    );
  },
);
