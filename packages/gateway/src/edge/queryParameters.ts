import { LimitError } from './limitError.ts';

/** @throws {LimitError} where a query has more parameters than so many */
export function refuseLongQuery(query: string, most: number): void {
  // As many parameters need one separator less, and no query of everyday is as long as the limit.
  if (query.length < most) return;
  let count = 1;
  for (let at = query.indexOf('&'); at !== -1; at = query.indexOf('&', at + 1)) count += 1;
  if (count <= most) return;
  throw new LimitError('query-parameters', {
    code: 'BAD_REQUEST',
    message: `The query has more than ${most} parameters.`,
  });
}
