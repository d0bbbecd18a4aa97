import { LimitError } from '../procedures/limitError.ts';

/** Creates the error of a `multipart/form-data` form with too many fields. */
export const tooManyFields = (limit: number): LimitError =>
  new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The body has more than ${limit} fields.`,
  });

/** Counts parameters of a query or an urlencoded form. @throws {LimitError} if there are more than `limit` */
export function rejectManyParameters(text: string, limit: number, where: 'query' | 'form' = 'query'): void {
  // `limit + 1` parameters need at least `limit` separators. Common queries are shorter and need no scan.
  if (text.length < limit) return;
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  if (count <= limit) return;
  throw new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The ${where} has more than ${limit} parameters.`,
  });
}
