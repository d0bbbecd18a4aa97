// Hot path: `onResponse` runs for every request. It adds to numbers that it holds itself, and only who reads the metrics
// pays for labels: prom-client 15 joins the labels to a string for each addition. `npm run bench:metrics` measures it.
import type { RequestRecord } from '@petstore/gateway';
import { counter, type Family, type Sample } from './family.ts';
import { Latency, latencyFamily } from './latency.ts';

type ProtocolClient = RequestRecord['protocol'] | 'websocket';

/** What is counted of one operation on one protocol. */
class Series {
  /** By the first digit of the status. */
  readonly requests = [0, 0, 0, 0, 0, 0];
  readonly latency = new Latency();
  calls = 0;
}

/** What is counted of one protocol. */
class ProtocolMetrics {
  readonly series = new Map<string, Series>();
  bytesIn = 0;
  bytesOut = 0;
}

/** Statuses that are shown also where none was answered yet: a rate needs a zero to rise from. */
const shownAtZero = new Set([2, 4, 5]);

/**
 * Counts the requests that a gateway reports to `onResponse`. Labels name procedures alone, never what a client chose.
 * @param prefix before the name of each metric
 */
export function createRequestMetrics(prefix: string) {
  const protocols: Record<ProtocolClient, ProtocolMetrics> = {
    rest: new ProtocolMetrics(),
    rpc: new ProtocolMetrics(),
    websocket: new ProtocolMetrics(),
    other: new ProtocolMetrics(),
  };
  const refusals = new Map<string, number>();

  function seriesOf({ series }: ProtocolMetrics, operation: string): Series {
    const found = series.get(operation);
    if (found !== undefined) return found;
    const added = new Series();
    series.set(operation, added);
    return added;
  }

  function onResponse(record: RequestRecord): void {
    const { procedures: called, status, limit } = record;
    const protocol = protocols[record.method === 'WS' ? 'websocket' : record.protocol];
    const series = seriesOf(protocol, record.calls > 1 ? 'batch' : (called[0] ?? 'none'));
    const digit = (status / 100) | 0;
    series.requests[digit] = (series.requests[digit] ?? 0) + 1;
    // A stream lasts as long as its client likes.
    if (!record.isStream) series.latency.observe(record.durationMs);
    for (const procedure of called) seriesOf(protocol, procedure).calls += 1;
    protocol.bytesIn += record.bytesIn ?? 0;
    protocol.bytesOut += record.bytesOut ?? 0;
    if (limit !== undefined) refusals.set(limit, (refusals.get(limit) ?? 0) + 1);
  }

  function* all(): Generator<readonly [labels: { protocol: string; operation: string }, series: Series]> {
    for (const [protocol, { series }] of Object.entries(protocols)) {
      for (const [operation, each] of series) yield [{ protocol, operation }, each];
    }
  }

  const byProtocol = (value: (protocol: ProtocolMetrics) => number): Sample[] =>
    Object.entries(protocols).map(([protocol, metrics]) => ({ labels: { protocol }, value: value(metrics) }));

  function families(): Family[] {
    const series = [...all()];
    return [
      counter(
        `${prefix}requests_total`,
        'Requests that were answered, WebSocket calls among them. Operation: the procedure, batch for several, none where none was reached.',
        series.flatMap(([labels, { requests }]) =>
          requests.flatMap((value, digit) =>
            value > 0 || shownAtZero.has(digit)
              ? [{ labels: { ...labels, status: `${digit}xx` }, value }]
              : [],
          ),
        ),
      ),
      counter(
        `${prefix}calls_total`,
        'Procedures that were called: each call of a batch counts.',
        series.flatMap(([labels, { calls }]) => (calls > 0 ? [{ labels, value: calls }] : [])),
      ),
      latencyFamily(
        `${prefix}request_duration_seconds`,
        'From a request to its answer, without streams and subscriptions.',
        series.map(([labels, { latency }]) => [labels, latency]),
      ),
      counter(
        `${prefix}request_body_bytes_total`,
        'Bytes of request bodies that had come by their answers: not of WebSockets.',
        byProtocol(({ bytesIn }) => bytesIn),
      ),
      counter(
        `${prefix}response_body_bytes_total`,
        'Bytes of response bodies: not of streams and WebSockets.',
        byProtocol(({ bytesOut }) => bytesOut),
      ),
      counter(
        `${prefix}limited_requests_total`,
        'Requests that met a limit, by its name.',
        [...refusals].map(([limit, value]) => ({ labels: { limit }, value })),
      ),
    ];
  }

  return { onResponse, families };
}
