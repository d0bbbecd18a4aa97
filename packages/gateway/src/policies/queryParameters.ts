import { LimitError } from '../procedures/limitError.ts';

/** @throws {LimitError} where a query has more parameters than so many */
export const refuseLongQuery = (query: string, most: number): void => refuseMore(query, most, 'query');

/** @throws {LimitError} where an `application/x-www-form-urlencoded` body has more parameters than so many */
export const refuseLongForm = (form: string, most: number): void => refuseMore(form, most, 'form');

function refuseMore(text: string, most: number, where: 'query' | 'form'): void {
  // As many parameters need one separator less, and no query of everyday is as long as the limit.
  if (text.length < most) return;
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count += 1;
  if (count <= most) return;
  throw new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The ${where} has more than ${most} parameters.`,
  });
}
