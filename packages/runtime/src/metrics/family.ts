/** How the values of a series are combined over several processes (prom-client's names). */
export type Aggregator = 'sum' | 'min' | 'max' | 'first';

/** A sample of a metric. Labels must have a bounded set of values, never values that clients choose. */
export interface MetricSample {
  /** The name of the sample if it differs from the metric's, as in a histogram (`_bucket`, `_sum`, `_count`). */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with the current values of all its series, in the format of prom-client's `getMetricsAsJSON`. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  readonly values: readonly MetricSample[];
}

/** The current metrics of one process, as JSON-serializable data. */
export type MetricsSnapshot = readonly MetricFamily[];

/** Creates a counter. @param values may omit series that were never incremented */
export const counter = (name: string, help: string, values: readonly MetricSample[]): MetricFamily => ({
  name,
  help,
  type: 'counter',
  aggregator: 'sum',
  values,
});

/** Creates a gauge. @param value of one series without labels, or the samples of several */
export const gauge = (
  name: string,
  help: string,
  value: number | readonly MetricSample[],
  aggregator: Aggregator = 'sum',
): MetricFamily => ({
  name,
  help,
  type: 'gauge',
  aggregator,
  values: typeof value === 'number' ? [{ labels: {}, value }] : value,
});
