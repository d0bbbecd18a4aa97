import { LimitError } from '../procedures/limitError.ts';

/** @throws {LimitError} if a query string has more than `most` parameters */
export const rejectLongQuery = (query: string, most: number): void => rejectMore(query, most, 'query');

/** @throws {LimitError} if an `application/x-www-form-urlencoded` body has more than `most` parameters */
export const rejectLongForm = (form: string, most: number): void => rejectMore(form, most, 'form');

function rejectMore(text: string, most: number, where: 'query' | 'form'): void {
  // `most + 1` parameters need at least `most` separators. Common queries are shorter and need no scan.
  if (text.length < most) return;
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  if (count <= most) return;
  throw new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The ${where} has more than ${most} parameters.`,
  });
}
