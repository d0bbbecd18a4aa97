/** The middle of some numbers; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  return ((sorted[(length - 1) >> 1] ?? NaN) + (sorted[length >> 1] ?? NaN)) / 2;
}

/** Half of the distance between the least and the most, as a part of the median: 0.05 is ±5%. */
export const spread = (values: readonly number[]): number =>
  (Math.max(...values) - Math.min(...values)) / 2 / median(values);
