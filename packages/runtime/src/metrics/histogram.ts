// Hot path: observed for every request and every store operation.
import type { MetricFamily, MetricSample } from './family.ts';

/** Upper bounds in seconds: from an embedded store's tens of microseconds to the default call timeout. */
const latencyBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** A histogram, for one series. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #buckets: Float64Array;
  #sum = 0;

  /** @param bounds upper bounds of the buckets, ascending. Default: those of durations in seconds, from 0.5 ms to 30 s */
  constructor(bounds: readonly number[] = latencyBounds) {
    this.#bounds = bounds;
    this.#buckets = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    // Not a binary search: almost all values fall into the first buckets.
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] ?? Infinity)) bucket += 1;
    // Every index exists; `?? 0` only satisfies the types.
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  samples(name: string, labels: MetricSample['labels']): MetricSample[] {
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    // An empty histogram would add many lines without information.
    if (count === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** Creates a metric with one series per histogram. */
export const histogramFamily = (
  name: string,
  help: string,
  histograms: Iterable<readonly [labels: MetricSample['labels'], histogram: Histogram]>,
): MetricFamily => ({
  name,
  help,
  type: 'histogram',
  aggregator: 'sum',
  values: [...histograms].flatMap(([labels, histogram]) => histogram.samples(name, labels)),
});
