/* oxlint-disable unicorn/no-thenable -- what is tested */
import { expect, it } from 'vitest';
import { isThenable } from './maybePromise.ts';

const then = () => {};

it.each<[what: string, value: unknown, isThenable: boolean]>([
  ['a promise', Promise.resolve(), true],
  ['an object with a function `then`', { then }, true],
  ['a function with a function `then`', Object.assign(() => {}, { then }), true],
  ['an object whose `then` is a text', { then: 'later' }, false],
  ['a function', () => {}, false],
  ['null', null, false],
  ['undefined', undefined, false],
  ['a text', 'then', false],
])('isThenable looks for a function `then`: %s', (_, value, expected) => {
  expect(isThenable(value)).toBe(expected);
});
