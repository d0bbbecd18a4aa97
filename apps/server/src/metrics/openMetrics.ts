import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '@petstore/core';
import type { Exchange, ServedProcedure } from '@petstore/gateway';
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { Adapter } from '../adapter.ts';
import { createExchangeMetrics } from './exchangeMetrics.ts';
import { type Family, gauge, type MetricsSnapshot } from './family.ts';
import { createStoreMetrics } from './storeMetrics.ts';

/** What is asked for when the metrics are read. */
export interface MetricsSources {
  /** What serves. */
  readonly server: Adapter['server'];
  /** Rejects, or throws, where the store cannot serve. */
  readonly ready: () => unknown;
  /** How many procedures are called which way. */
  readonly procedures: Readonly<Record<ServedProcedure['execution'], number>>;
  readonly callsInFlight: () => number;
  readonly connections: () => { readonly http: number; readonly webSockets: number };
  /** How many API keys are remembered as good. */
  readonly rememberedKeys: () => number;
  /** How many tokens are remembered as not good. */
  readonly refusedTokens: () => number;
}

/** The metrics of one process. */
export interface Metrics {
  /** For the gateway. */
  readonly onExchange: (exchange: Exchange) => void;
  /** @returns the store, with its operations timed */
  readonly wrapStore: (store: Store) => Store;
  readonly snapshot: (sources: MetricsSources) => Promise<MetricsSnapshot>;
}

/** How long a store may take to say that it is ready, in milliseconds: who reads metrics does not wait for a database. */
const readyMs = 1000;

/** Begins to measure this process. */
export function openMetrics(): Metrics {
  const exchanges = createExchangeMetrics();
  const store = createStoreMetrics();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  return {
    onExchange: exchanges.onExchange,
    wrapStore: (wrapped) => store.wrapStore(wrapped),
    async snapshot(sources) {
      const [isReady, process] = await Promise.all([canServe(sources), registry.getMetricsAsJSON()]);
      const { http, webSockets } = sources.connections();
      return [
        {
          // The same in every process of one start.
          ...gauge('petstore_server_info', '1, by what serves.', 1, 'max'),
          values: [{ labels: { server: sources.server }, value: 1 }],
        },
        ...exchanges.families(),
        {
          // The same in every process of one build.
          ...gauge('petstore_procedures', 'Procedures that are served, by how they are executed.', 0, 'max'),
          values: Object.entries(sources.procedures).map(([execution, value]) => ({
            labels: { execution },
            value,
          })),
        },
        gauge('petstore_calls_in_flight', 'Calls that run now.', sources.callsInFlight()),
        {
          ...gauge('petstore_connections', 'Connections that are open now.', 0),
          values: [
            { labels: { protocol: 'http' }, value: http },
            { labels: { protocol: 'websocket' }, value: webSockets },
          ],
        },
        ...store.families(),
        gauge('petstore_store_ready', '1 where the store can serve, else 0.', isReady ? 1 : 0, 'min'),
        gauge('petstore_remembered_keys', 'API keys that are remembered as good.', sources.rememberedKeys()),
        gauge('petstore_refused_tokens', 'Tokens remembered as not good.', sources.refusedTokens()),
        ...(process as unknown as Family[]).map(ofOneOfMany), // Its types lack what its aggregation reads.
      ];
    },
  };
}

async function canServe({ ready }: MetricsSources): Promise<boolean> {
  const answered = async () => {
    try {
      await ready();
      return true;
    } catch {
      return false;
    }
  };
  return Promise.race([answered(), sleep(readyMs, false, { ref: false })]);
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
