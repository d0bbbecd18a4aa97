import type { RequestRecord, ServedProcedure } from 'trpc-gateway';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createRequestMetrics } from './requestMetrics.ts';
import { type MetricFamily, gauge, type MetricsSnapshot } from './family.ts';

/** The values that are read on each scrape. */
export interface MetricsSources {
  /** The name of the adapter. */
  readonly server: string;
  /** Number of procedures by execution path. */
  readonly procedures: Readonly<Record<ServedProcedure['execution'], number>>;
  readonly callsInFlight: () => number;
  readonly connections: () => { readonly http: number; readonly webSockets: number };
  /** Number of cached invalid tokens. */
  readonly rejectedTokens: () => number;
  /** Returns the service's own metrics. */
  readonly families?: (() => readonly MetricFamily[] | Promise<readonly MetricFamily[]>) | undefined;
}

export interface Metrics {
  /** The hook for `createGateway`. */
  readonly onResponse: (record: RequestRecord) => void;
  readonly snapshot: (sources: MetricsSources) => Promise<MetricsSnapshot>;
}

export interface MetricsOptions {
  /** Prefix of all metric names except those of the process (`process_`, `nodejs_`). Default: `gateway_`. */
  readonly prefix?: string;
}

/** Starts collecting metrics of this process. */
export function openMetrics({ prefix = 'gateway_' }: MetricsOptions = {}): Metrics {
  const requestMetrics = createRequestMetrics(prefix);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  return {
    onResponse: requestMetrics.onResponse,
    async snapshot(sources) {
      const [serviceFamilies, processFamilies] = await Promise.all([
        sources.families?.(),
        registry.getMetricsAsJSON(),
      ]);
      const { http, webSockets } = sources.connections();
      return [
        gauge(
          `${prefix}server_info`,
          'The server adapter in use, as a label. Always 1.',
          [{ labels: { server: sources.server }, value: 1 }],
          // All processes use the same adapter.
          'max',
        ),
        ...requestMetrics.families(),
        gauge(
          `${prefix}procedures`,
          'Number of procedures, by execution path.',
          Object.entries(sources.procedures).map(([execution, value]) => ({ labels: { execution }, value })),
          // All processes serve the same procedures.
          'max',
        ),
        gauge(`${prefix}calls_in_flight`, 'Number of calls in flight.', sources.callsInFlight()),
        gauge(`${prefix}connections`, 'Number of open connections, by protocol.', [
          { labels: { protocol: 'http' }, value: http },
          { labels: { protocol: 'websocket' }, value: webSockets },
        ]),
        ...(serviceFamilies ?? []),
        gauge(
          `${prefix}rejected_tokens`,
          'Number of invalid tokens in the cache, at most 10,500.',
          sources.rejectedTokens(),
        ),
        ...(processFamilies as unknown as MetricFamily[]).map(withAggregator), // prom-client's types lack `aggregator`, which its aggregation reads.
      ];
    },
  };
}

/** Replaces prom-client's `average`, which hides a blocked loop, and `omit`, which drops the start time. */
function withAggregator(family: MetricFamily): MetricFamily {
  const { aggregator } = family as { readonly aggregator: string };
  if (aggregator === 'average') return { ...family, aggregator: 'max' };
  return aggregator === 'omit' ? { ...family, aggregator: 'min' } : family;
}
