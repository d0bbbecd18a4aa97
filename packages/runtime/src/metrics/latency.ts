// Hot path: observed for every request and every store operation.
import type { Family, Sample } from './family.ts';

/**
 * Upper bounds in seconds. The least are for an embedded store, which answers in some tens of microseconds; the greatest
 * is the time that a call may take.
 */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** How long something took, of one series. */
export class Latency {
  readonly #buckets = new Float64Array(bounds.length + 1);
  #sumMs = 0;

  observe(durationMs: number): void {
    const seconds = durationMs / 1000;
    let bucket = 0;
    // Not a binary search: nearly all are in the first buckets.
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? Infinity)) bucket += 1;
    // Every index is there; `?? 0` is for the types alone.
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#sumMs += durationMs;
  }

  samples(name: string, labels: Sample['labels']): Sample[] {
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((le, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    // A histogram of nothing is many lines that say nothing.
    if (count === 0) return [];
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumMs / 1000 },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** Histograms of seconds, a series for each of the latencies. */
export const latencyFamily = (
  name: string,
  help: string,
  latencies: Iterable<readonly [labels: Sample['labels'], latency: Latency]>,
): Family => ({
  name,
  help,
  type: 'histogram',
  aggregator: 'sum',
  values: [...latencies].flatMap(([labels, latency]) => latency.samples(name, labels)),
});
