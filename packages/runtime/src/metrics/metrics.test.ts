import { expect, test } from 'vitest';
import { gauge, type MetricsSnapshot } from './family.ts';
import { aggregateMetrics, metrics } from './metrics.ts';
import { type MetricsSources, openMetrics } from './openMetrics.ts';
import { record } from '../testing/record.ts';

const sources: MetricsSources = {
  server: 'node',
  procedures: { compiled: 3, trpc: 0 },
  callsInFlight: () => 2,
  connections: () => ({ http: 3, webSockets: 1 }),
  rejectedTokens: () => 0,
};

/** A process that serves requests and reports its metrics as JSON, like a message between processes. */
function worker() {
  const { onResponse, snapshot } = openMetrics();
  return {
    serve: (requests: number) => {
      for (let each = 0; each < requests; each += 1) onResponse({ ...record, durationMs: 1.5 });
    },
    report: async (more: Partial<MetricsSources> = {}): Promise<MetricsSnapshot> =>
      JSON.parse(JSON.stringify(await snapshot({ ...sources, ...more }))),
  };
}

const requests = 'gateway_requests_total{protocol="rest",operation="listPets",status="2xx"}';
const count = 'gateway_request_duration_seconds_count{protocol="rest",operation="listPets"}';
const bucket = (le: string) =>
  `gateway_request_duration_seconds_bucket{le="${le}",protocol="rest",operation="listPets"}`;

async function read(text: Promise<string>) {
  const lines = (await text).split('\n');
  return (series: string) => {
    const line = lines.find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
}

test('counters, calls in flight and connections of processes are summed, and other metrics have aggregators of their own', async () => {
  const aggregated = aggregateMetrics();
  for (const [process, served, ready, lag] of [
    [1, 3, 1, 0.01],
    [2, 4, 0, 2],
  ] as const) {
    const { report, serve } = worker();
    serve(served);
    const snapshot = await report({
      families: () => [gauge('store_ready', '1 if the store can serve, 0 otherwise.', ready, 'min')],
    });
    const withLag = snapshot.flatMap((family) =>
      family.name === 'nodejs_eventloop_lag_p99_seconds'
        ? [{ ...family, values: [{ labels: {}, value: lag }] }]
        : [family],
    );
    aggregated.update(process, withLag);
  }
  const value = await read(aggregated.text());
  expect([requests, count, bucket('0.001'), bucket('0.0025'), bucket('+Inf')].map(value)).toEqual([
    7, 7, 0, 7, 7,
  ]);
  expect(value('gateway_calls_in_flight')).toBe(4);
  expect(value('gateway_connections{protocol="http"}')).toBe(6);
  // Every process serves the same procedures.
  expect(value('gateway_procedures{execution="compiled"}')).toBe(3);
  expect(value('store_ready')).toBe(0);
  expect(value('nodejs_eventloop_lag_p99_seconds')).toBe(2);
});

test('when a process ends its counters stay in the totals, its calls in flight and connections are dropped, and its late snapshot is ignored', async () => {
  const aggregated = aggregateMetrics();
  const running = worker();
  running.serve(1);
  aggregated.update(1, await running.report());
  for (let process = 2; process <= 4; process += 1) {
    const ending = worker();
    ending.serve(10);
    const snapshot = await ending.report();
    aggregated.update(process, snapshot);
    aggregated.remove(process);
    aggregated.update(process, snapshot);
  }
  const value = await read(aggregated.text());
  expect([requests, count, bucket('+Inf')].map(value)).toEqual([31, 31, 31]);
  expect(value('gateway_calls_in_flight')).toBe(2);
});

test('a process that does not respond is counted with its last snapshot', async () => {
  const aggregated = aggregateMetrics();
  const silent = worker();
  silent.serve(5);
  aggregated.update(1, await silent.report());
  silent.serve(5);
  expect((await read(aggregated.text()))(requests)).toBe(5);
  aggregated.update(1, await silent.report());
  expect((await read(aggregated.text()))(requests)).toBe(10);
});

test('/metrics of several workers has how many there should be, and how many respond', async () => {
  const page = metrics({ prefix: 'x_' })
    .aggregate()
    .page(async () => [], { count: 3, responding: () => 2 });
  const value = await read(page().then(({ body }) => body as string));
  expect([value('x_workers'), value('x_workers_responding')]).toEqual([3, 2]);
});
