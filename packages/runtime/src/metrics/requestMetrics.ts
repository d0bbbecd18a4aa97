// Hot path: `onResponse` only increments numbers. prom-client 15 joins labels each time, this on each scrape.
import type { RequestRecord } from 'trpc-gateway';
import { counter, gauge, type MetricFamily, type MetricSample } from './family.ts';
import { serverErrors } from '../failedCalls.ts';
import { Histogram, histogramFamily } from './histogram.ts';

type ProtocolLabel = RequestRecord['protocol'] | 'websocket';

/** Upper bounds of the sizes of results, in bytes: about four are a token, and 80,000 are what hosts of models take. */
const resultBounds = [500, 1000, 2500, 5000, 10_000, 20_000, 40_000, 80_000, 250_000, 1_000_000, 10_000_000];

/** The counters of one operation over one protocol. */
class Series {
  /** Number of requests, indexed by the first digit of the status. */
  readonly requests = [0, 0, 0, 0, 0, 0];
  readonly latency = new Histogram();
  calls = 0;
  replays = 0;
  /** Bytes of the results of a tool; `undefined` before the first. */
  results: Histogram | undefined = undefined;
  largestResult = 0;
  cutResults = 0;
  /** Failed calls by code. The server's, for alerts, start at 0: `rate()` needs a sample to increase from. */
  readonly errors = new Map(Array.from(serverErrors, (code) => [code, 0]));

  countResult(bytes: number, isCut = false): void {
    (this.results ??= new Histogram(resultBounds)).observe(bytes);
    this.largestResult = Math.max(this.largestResult, bytes);
    if (isCut) this.cutResults += 1;
  }

  countError(code: string): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }
}

type LabelledSeries = readonly [labels: { protocol: string; operation: string }, series: Series];

class ProtocolMetrics {
  readonly series = new Map<string, Series>();
  bytesIn = 0;
  bytesOut = 0;

  seriesOf(operation: string): Series {
    const existing = this.series.get(operation);
    if (existing !== undefined) return existing;
    const added = new Series();
    this.series.set(operation, added);
    return added;
  }
}

/** Status classes (2xx, 4xx, 5xx) that are exported with value 0: `rate()` needs a first sample to increase from. */
const statusClassesAtZero = new Set([2, 4, 5]);

/**
 * Counts requests of `onResponse`. The label `operation` has names of procedures only, never values that clients choose.
 * @param prefix prefix of each metric name
 */
export function createRequestMetrics(prefix: string) {
  const protocols: Record<ProtocolLabel, ProtocolMetrics> = {
    rest: new ProtocolMetrics(),
    trpc: new ProtocolMetrics(),
    websocket: new ProtocolMetrics(),
    mcp: new ProtocolMetrics(),
    other: new ProtocolMetrics(),
  };
  const limited = new Map<string, number>();

  function onResponse(record: RequestRecord): void {
    const { callErrors, procedures: calledProcedures, status, limit } = record;
    const protocol = protocols[record.method === 'WS' ? 'websocket' : record.protocol];
    const series = protocol.seriesOf(record.calls > 1 ? 'batch' : (calledProcedures[0] ?? 'none'));
    const digit = (status / 100) | 0;
    series.requests[digit] = (series.requests[digit] ?? 0) + 1;
    // The client decides how long a stream lasts.
    if (!record.isStream) series.latency.observe(record.durationMs / 1000);
    if (record.isReplay) series.replays += 1;
    if (record.resultBytes !== undefined) series.countResult(record.resultBytes, record.isResultCut);
    for (const procedure of calledProcedures) protocol.seriesOf(procedure).calls += 1;
    const unknown = record.calls - calledProcedures.length;
    if (unknown > 0) protocol.seriesOf('none').calls += unknown;
    if (callErrors)
      for (const { procedure = 'none', code } of callErrors) protocol.seriesOf(procedure).countError(code);
    protocol.bytesIn += record.bytesIn ?? 0;
    protocol.bytesOut += record.bytesOut ?? 0;
    if (limit !== undefined) limited.set(limit, (limited.get(limit) ?? 0) + 1);
  }

  function* allSeries(): Generator<LabelledSeries> {
    for (const [protocol, { series }] of Object.entries(protocols)) {
      for (const [operation, each] of series) yield [{ protocol, operation }, each];
    }
  }

  const byProtocol = (value: (protocol: ProtocolMetrics) => number): MetricSample[] =>
    Object.entries(protocols).map(([protocol, metrics]) => ({ labels: { protocol }, value: value(metrics) }));

  function families(): MetricFamily[] {
    const series = [...allSeries()];
    return [
      counter(
        `${prefix}requests_total`,
        'Number of completed requests, including calls over WebSockets. The label operation is the procedure, batch for several calls, or none if no procedure matched.',
        series.flatMap(([labels, { requests }]) =>
          requests.flatMap((value, digit) =>
            value > 0 || statusClassesAtZero.has(digit)
              ? [{ labels: { ...labels, status: `${digit}xx` }, value }]
              : [],
          ),
        ),
      ),
      counter(
        `${prefix}calls_total`,
        'Number of procedure calls. Each call of a batch counts. The label operation is none for procedures that do not exist.',
        series.flatMap(([labels, { calls }]) => (calls > 0 ? [{ labels, value: calls }] : [])),
      ),
      counter(
        `${prefix}call_errors_total`,
        'Number of failed procedure calls, by the tRPC code of the error. Each call of a batch counts.',
        series.flatMap(([labels, { calls, errors }]) =>
          calls > 0 ? [...errors].map(([code, value]) => ({ labels: { ...labels, code }, value })) : [],
        ),
      ),
      counter(
        `${prefix}replayed_calls_total`,
        'Number of calls whose response repeated that of an earlier one with the same idempotency key.',
        series.map(([labels, { replays: value }]) => ({ labels, value })),
      ),
      ...toolFamilies(prefix, series),
      histogramFamily(
        `${prefix}request_duration_seconds`,
        'Duration from request to response in seconds, without streams and subscriptions.',
        series.map(([labels, { latency }]) => [labels, latency]),
      ),
      counter(
        `${prefix}request_body_bytes_total`,
        'Bytes of request bodies received before the response, without WebSockets.',
        byProtocol(({ bytesIn }) => bytesIn),
      ),
      counter(
        `${prefix}response_body_bytes_total`,
        'Bytes of response bodies, without streams and WebSockets.',
        byProtocol(({ bytesOut }) => bytesOut),
      ),
      counter(
        `${prefix}limited_requests_total`,
        'Number of requests rejected and WebSockets closed by a limit, by limit.',
        [...limited].map(([limit, value]) => ({ labels: { limit }, value })),
      ),
    ];
  }

  return { onResponse, families };
}

function toolFamilies(prefix: string, all: readonly LabelledSeries[]): MetricFamily[] {
  const tools = all.flatMap(([{ operation }, { cutResults, largestResult, results }]) =>
    results ? [{ labels: { operation }, cutResults, largestResult, results }] : [],
  );
  return [
    histogramFamily(
      `${prefix}tool_result_bytes`,
      'Bytes of the results of a tool, also of errors, before compression.',
      tools.map(({ labels, results }) => [labels, results]),
    ),
    gauge(
      `${prefix}tool_result_largest_bytes`,
      'Largest result of a tool so far.',
      tools.map(({ labels, largestResult: value }) => ({ labels, value })),
      'max',
    ),
    counter(
      `${prefix}tool_results_cut_total`,
      'Number of results of a tool that were larger than maxResultBytes, so that they are not complete.',
      tools.map(({ labels, cutResults: value }) => ({ labels, value })),
    ),
  ];
}
