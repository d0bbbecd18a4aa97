/* oxlint-disable unicorn/no-thenable -- the subject of the tests */
import { expect, it } from 'vitest';
import { isThenable } from './maybePromise.ts';

const then = () => {};

it.each<[what: string, value: unknown, isThenable: boolean]>([
  ['a promise', Promise.resolve(), true],
  ['an object with a method `then`', { then }, true],
  ['a function with a method `then`', Object.assign(() => {}, { then }), true],
  ['an object whose `then` is a string', { then: 'later' }, false],
  ['a function', () => {}, false],
  ['null', null, false],
  ['undefined', undefined, false],
  ['a string', 'then', false],
])('isThenable checks for a method `then`: %s', (_, value, expected) => {
  expect(isThenable(value)).toBe(expected);
});
