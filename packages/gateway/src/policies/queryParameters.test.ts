import { expect, it } from 'vitest';
import { rejectLongForm, rejectLongQuery } from './queryParameters.ts';

it.each<[text: string, most: number, isLong: boolean]>([
  ['', 1, false],
  ['a=1', 1, false],
  ['a=1&', 1, true],
  ['&', 1, true],
  ['&&', 3, false],
  ['&&', 2, true],
  ['a=1&b=2&c=3', 3, false],
  ['a=1&b=2&c=3', 2, true],
  ['a=%26%26%26', 1, false],
])('the query %j has more parameters than %i: %s', (text, most, isLong) => {
  const rejected = (refuse: typeof rejectLongQuery) => {
    try {
      refuse(text, most);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const message = (where: string) => (isLong ? `The ${where} has more than ${most} parameters.` : undefined);
  expect(rejected(rejectLongQuery)).toBe(message('query'));
  expect(rejected(rejectLongForm)).toBe(message('form'));
});

it('the error is a limit’s, so that it is no error of the service', () => {
  expect(() => rejectLongQuery('a&b', 1)).toThrow(
    expect.objectContaining({ limit: 'query-parameters', code: 'BAD_REQUEST' }),
  );
});
