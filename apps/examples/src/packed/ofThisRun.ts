import { longForm } from '@petstore/testing/forms';

const seed = Number(process.env['TEST_SEED'] ?? 0);

/** Returns every second row, and the others in runs with another seed, since an installation takes minutes. All in the long form. */
export function ofThisRun<Row>(rows: readonly Row[]): readonly Row[] {
  const own = rows.filter((_, index) => longForm || index % 2 === seed % 2);
  return own.length > 0 ? own : rows;
}
