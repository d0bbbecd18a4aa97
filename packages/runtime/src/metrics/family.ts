/** How the values of one series that several processes have become one (prom-client's names). */
export type Aggregator = 'sum' | 'min' | 'max' | 'first';

/** One value of a family. Its labels are a set that cannot grow with what clients send. */
export interface Sample {
  /** Where it is not the family's: of a histogram. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with all its series at one moment, as prom-client's `getMetricsAsJSON` has it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly aggregator: Aggregator;
  readonly values: readonly Sample[];
}

/** All metrics of one process at one moment: plain data, fit for a message to another. */
export type MetricsSnapshot = readonly Family[];

/** @param values what has no value yet is left out */
export const counter = (name: string, help: string, values: readonly Sample[]): Family => ({
  name,
  help,
  type: 'counter',
  aggregator: 'sum',
  values,
});

/** A gauge of one series. */
export const gauge = (name: string, help: string, value: number, aggregator: Aggregator = 'sum'): Family => ({
  name,
  help,
  type: 'gauge',
  aggregator,
  values: [{ labels: {}, value }],
});
