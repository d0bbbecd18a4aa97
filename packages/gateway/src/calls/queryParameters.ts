import { LimitError } from '../procedures/limitError.ts';

/** @throws {LimitError} if a query string has more than `most` parameters */
export const rejectLongQuery = (query: string, limit: number): void => rejectMore(query, limit, 'query');

/** @throws {LimitError} if an `application/x-www-form-urlencoded` body has more than `most` parameters */
export const rejectLongForm = (form: string, limit: number): void => rejectMore(form, limit, 'form');

function rejectMore(text: string, limit: number, where: 'query' | 'form'): void {
  // `most + 1` parameters need at least `most` separators. Common queries are shorter and need no scan.
  if (text.length < limit) return;
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  if (count <= limit) return;
  throw new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The ${where} has more than ${limit} parameters.`,
  });
}
