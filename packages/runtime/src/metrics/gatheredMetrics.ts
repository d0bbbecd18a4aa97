import { AggregatorRegistry } from 'prom-client';
import type { Family, MetricsSnapshot } from './family.ts';
import { metricsText } from './openMetrics.ts';

/** The metrics of several processes, in one place that outlives them. A process has a number that no other ever has. */
export interface GatheredMetrics {
  /**
   * Keeps what a process has told last: one that does not answer is still counted with that. What it had told before it
   * was gone, and comes later, is passed over.
   */
  readonly told: (process: number, snapshot: MetricsSnapshot) => void;
  /** The process is gone: what it has counted stays, so that no total falls; what it was at that moment does not. */
  readonly gone: (process: number) => void;
  /** All of them in one, as Prometheus reads it. */
  readonly text: () => Promise<string>;
}

export function gatherMetrics(): GatheredMetrics {
  const last = new Map<number, MetricsSnapshot>();
  const ended = new Set<number>();
  /** What all that are gone have counted. */
  let totals: Promise<MetricsSnapshot> = Promise.resolve([]);

  return {
    told(process, snapshot) {
      if (!ended.has(process)) last.set(process, snapshot);
    },
    gone(process) {
      ended.add(process);
      const counted = (last.get(process) ?? []).filter(({ type }) => type !== 'gauge');
      last.delete(process);
      totals = sumOf(totals, counted);
    },
    text: async () => metricsText([await totals, ...last.values()]),
  };
}

async function sumOf(totals: Promise<MetricsSnapshot>, counted: MetricsSnapshot): Promise<MetricsSnapshot> {
  const sum = AggregatorRegistry.aggregate([[...(await totals)], [...counted]]);
  return (await sum.getMetricsAsJSON()) as unknown as Family[]; // Its types lack a histogram's names.
}
