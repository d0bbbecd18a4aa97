import type { RequestRecord, ServedProcedure } from '@petstore/gateway';
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import { createRequestMetrics } from './requestMetrics.ts';
import { type Family, gauge, type MetricsSnapshot } from './family.ts';

/** What is read when the metrics are. */
export interface MetricsSources {
  /** The name of the adapter. */
  readonly server: string;
  /** How many procedures are executed in each way. */
  readonly procedures: Readonly<Record<ServedProcedure['execution'], number>>;
  readonly callsInFlight: () => number;
  readonly connections: () => { readonly http: number; readonly webSockets: number };
  /** How many tokens are remembered as invalid. */
  readonly refusedTokens: () => number;
  /** The metrics of the service itself. */
  readonly families?: (() => readonly Family[] | Promise<readonly Family[]>) | undefined;
}

/** The metrics of one process. */
export interface Metrics {
  /** For the gateway. */
  readonly onResponse: (record: RequestRecord) => void;
  readonly snapshot: (sources: MetricsSources) => Promise<MetricsSnapshot>;
}

export interface MetricsOptions {
  /** What the names of the metrics start with, but for those of the process itself. Default: `gateway_`. */
  readonly prefix?: string;
}

/** Starts to measure this process. */
export function openMetrics({ prefix = 'gateway_' }: MetricsOptions = {}): Metrics {
  const records = createRequestMetrics(prefix);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  return {
    onResponse: records.onResponse,
    async snapshot(sources) {
      const [own, process] = await Promise.all([sources.families?.(), registry.getMetricsAsJSON()]);
      const { http, webSockets } = sources.connections();
      return [
        {
          // The same in every process of one start.
          ...gauge(`${prefix}server_info`, '1, by what serves.', 1, 'max'),
          values: [{ labels: { server: sources.server }, value: 1 }],
        },
        ...records.families(),
        {
          // The same in every process of one build.
          ...gauge(`${prefix}procedures`, 'Procedures that are served, by how they are executed.', 0, 'max'),
          values: Object.entries(sources.procedures).map(([execution, value]) => ({
            labels: { execution },
            value,
          })),
        },
        gauge(`${prefix}calls_in_flight`, 'Calls that run now.', sources.callsInFlight()),
        {
          ...gauge(`${prefix}connections`, 'Connections that are open now.', 0),
          values: [
            { labels: { protocol: 'http' }, value: http },
            { labels: { protocol: 'websocket' }, value: webSockets },
          ],
        },
        ...(own ?? []),
        gauge(`${prefix}refused_tokens`, 'Tokens remembered as not good.', sources.refusedTokens()),
        ...(process as unknown as Family[]).map(ofOneOfMany), // Its types lack what its aggregation reads.
      ];
    },
  };
}

/**
 * prom-client averages what cannot be added over processes: an event loop that hangs would be hidden by those that do
 * not. And it leaves out when a process started.
 */
function ofOneOfMany(family: Family): Family {
  const { aggregator } = family as { readonly aggregator: string };
  if (aggregator === 'average') return { ...family, aggregator: 'max' };
  return aggregator === 'omit' ? { ...family, aggregator: 'min' } : family;
}

/** Metrics of one or more processes as Prometheus reads them, in one. */
export const metricsText = (snapshots: readonly MetricsSnapshot[]): Promise<string> =>
  AggregatorRegistry.aggregate([...snapshots]).metrics();
