import { expect, it } from 'vitest';
import { rejectManyParameters } from './queryParameters.ts';

it.each<[text: string, limit: number, isLong: boolean]>([
  ['', 1, false],
  ['a=1', 1, false],
  ['a=1&', 1, true],
  ['&', 1, true],
  ['&&', 3, false],
  ['&&', 2, true],
  ['a=1&b=2&c=3', 3, false],
  ['a=1&b=2&c=3', 2, true],
  ['a=%26%26%26', 1, false],
])('the query or form %j has more than %i parameters: %s', (text, limit, isLong) => {
  const messageOf = (where: 'query' | 'form') => {
    try {
      rejectManyParameters(text, limit, where);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const message = (where: string) => (isLong ? `The ${where} has more than ${limit} parameters.` : undefined);
  expect(messageOf('query')).toBe(message('query'));
  expect(messageOf('form')).toBe(message('form'));
});

it('rejectManyParameters throws a LimitError with BAD_REQUEST, which is not logged as an error of the service', () => {
  expect(() => rejectManyParameters('a&b', 1)).toThrow(
    expect.objectContaining({ limit: 'query-parameters', code: 'BAD_REQUEST' }),
  );
});
