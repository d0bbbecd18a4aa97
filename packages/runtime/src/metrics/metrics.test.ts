import type { HttpResponse } from 'trpc-gateway';
import { expect, test } from 'vitest';
import { gauge, type MetricsSnapshot } from './family.ts';
import { metrics } from './metrics.ts';
import type { ProcessMetrics } from './metricsPart.ts';
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

/** Creates an aggregate. `read` scrapes the processes that respond, and returns the values of series. */
function aggregate() {
  const { page, remove } = metrics().aggregate();
  let reports: readonly ProcessMetrics[] = [];
  const scrape = page(async () => reports);
  const read = (...responding: readonly ProcessMetrics[]) => {
    reports = responding;
    return valuesOf(scrape());
  };
  return { read, remove };
}

async function valuesOf(scrape: Promise<HttpResponse>) {
  const lines = ((await scrape).body as string).split('\n');
  return (series: string) => {
    const line = lines.find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };
}

test('counters, calls in flight and connections of processes are summed, and other metrics have aggregators of their own', async () => {
  const reports: ProcessMetrics[] = [];
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
    reports.push({ process, metrics: withLag });
  }
  const value = await aggregate().read(...reports);
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
  const { read, remove } = aggregate();
  const running = worker();
  running.serve(1);
  let value = await read({ process: 1, metrics: await running.report() });
  for (let process = 2; process <= 4; process += 1) {
    const ending = worker();
    ending.serve(10);
    const report = { process, metrics: await ending.report() };
    await read(report);
    remove(process);
    value = await read(report);
  }
  expect([requests, count, bucket('+Inf')].map(value)).toEqual([31, 31, 31]);
  expect(value('gateway_calls_in_flight')).toBe(2);
});

test('a process that does not respond is counted with its last snapshot', async () => {
  const { read } = aggregate();
  const silent = worker();
  silent.serve(5);
  await read({ process: 1, metrics: await silent.report() });
  silent.serve(5);
  expect((await read())(requests)).toBe(5);
  expect((await read({ process: 1, metrics: await silent.report() }))(requests)).toBe(10);
});

test('/metrics of several workers has how many there should be, and how many respond', async () => {
  const page = metrics({ prefix: 'x_' })
    .aggregate()
    .page(async () => [], { count: 3, responding: () => 2 });
  const value = await valuesOf(page());
  expect([value('x_workers'), value('x_workers_responding')]).toEqual([3, 2]);
});
