// Hot path: observed for every request and every store operation.
import type { MetricFamily, MetricSample } from './family.ts';

/**
 * Upper bounds of the buckets, in seconds. The smallest suit an embedded store, which answers within tens of microseconds;
 * the largest is the default call timeout.
 */
const bucketBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

/** A histogram of durations, for one series. */
export class Latency {
  readonly #buckets = new Float64Array(bucketBounds.length + 1);
  #sumMs = 0;

  observe(durationMs: number): void {
    const seconds = durationMs / 1000;
    let bucket = 0;
    // Not a binary search: almost all durations fall into the first buckets.
    while (bucket < bucketBounds.length && seconds > (bucketBounds[bucket] ?? Infinity)) bucket += 1;
    // Every index exists; `?? 0` only satisfies the types.
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#sumMs += durationMs;
  }

  samples(name: string, labels: MetricSample['labels']): MetricSample[] {
    let count = 0;
    const buckets = [...bucketBounds, '+Inf'].map((le, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    // An empty histogram would add many lines without information.
    if (count === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumMs / 1000 },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** Creates a histogram in seconds, with one series per latency. */
export const latencyFamily = (
  name: string,
  help: string,
  latencies: Iterable<readonly [labels: MetricSample['labels'], latency: Latency]>,
): MetricFamily => ({
  name,
  help,
  type: 'histogram',
  aggregator: 'sum',
  values: [...latencies].flatMap(([labels, latency]) => latency.samples(name, labels)),
});
