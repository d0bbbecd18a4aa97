import { expect, test } from 'vitest';
import type { RequestRecord } from '@petstore/gateway';
import { gauge, type MetricsSnapshot } from './family.ts';
import { gatherMetrics } from './gatheredMetrics.ts';
import { type MetricsSources, openMetrics } from './openMetrics.ts';

const sources: MetricsSources = {
  server: 'node',
  procedures: { compiled: 3, trpc: 0 },
  callsInFlight: () => 2,
  connections: () => ({ http: 3, webSockets: 1 }),
  refusedTokens: () => 0,
};

const record: RequestRecord = {
  requestId: '',
  method: 'GET',
  path: '/v1/pets',
  protocol: 'rest',
  operation: 'listPets',
  procedures: ['listPets'],
  calls: 1,
  status: 200,
  isStream: false,
  durationMs: 1.5,
  bytesIn: 0,
  bytesOut: 10,
  limit: undefined,
  error: undefined,
};

/** A process that answered so many requests, and what it tells, as it comes through a message. */
function worker() {
  const { onResponse, snapshot } = openMetrics();
  return {
    serve(requests: number) {
      for (let each = 0; each < requests; each += 1) onResponse(record);
    },
    tell: async (more: Partial<MetricsSources> = {}): Promise<MetricsSnapshot> =>
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

test('what processes count is added, and so are their calls and connections', async () => {
  const gathered = gatherMetrics();
  const [one, other] = [worker(), worker()];
  one.serve(3);
  other.serve(4);
  gathered.told(1, await one.tell());
  gathered.told(2, await other.tell());
  const value = await read(gathered.text());
  expect([requests, count, bucket('0.001'), bucket('0.0025'), bucket('+Inf')].map(value)).toEqual([
    7, 7, 0, 7, 7,
  ]);
  expect(value('gateway_calls_in_flight')).toBe(4);
  expect(value('gateway_connections{protocol="http"}')).toBe(6);
});

test('procedures are not added: every process serves the same', async () => {
  const gathered = gatherMetrics();
  gathered.told(1, await worker().tell());
  gathered.told(2, await worker().tell());
  expect((await read(gathered.text()))('gateway_procedures{execution="compiled"}')).toBe(3);
});

test('metrics of the service itself are aggregated as they say', async () => {
  const gathered = gatherMetrics();
  for (const [process, ready] of [
    [1, 1],
    [2, 0],
  ] as const) {
    gathered.told(
      process,
      await worker().tell({ families: () => [gauge('store_ready', 'It can serve.', ready, 'min')] }),
    );
  }
  expect((await read(gathered.text()))('store_ready')).toBe(0);
});

test('one event loop that hangs is not hidden by those that do not', async () => {
  const gathered = gatherMetrics();
  const lag = 'nodejs_eventloop_lag_p99_seconds';
  for (const [process, seconds] of [
    [1, 0.01],
    [2, 2],
  ] as const) {
    const told = await worker().tell();
    const measured = told.find(({ name }) => name === lag);
    if (measured === undefined) throw new Error('prom-client no longer tells the lag under this name.');
    const others = told.filter((family) => family !== measured);
    gathered.told(process, [...others, { ...measured, values: [{ labels: {}, value: seconds }] }]);
  }
  expect((await read(gathered.text()))(lag)).toBe(2);
});

test('no total falls when a process goes, and its calls and connections go with it', async () => {
  const gathered = gatherMetrics();
  const stays = worker();
  stays.serve(1);
  gathered.told(1, await stays.tell());
  for (let process = 2; process <= 4; process += 1) {
    const goes = worker();
    goes.serve(10);
    gathered.told(process, await goes.tell());
    gathered.gone(process);
  }
  const value = await read(gathered.text());
  expect([requests, count, bucket('+Inf')].map(value)).toEqual([31, 31, 31]);
  expect(value('gateway_calls_in_flight')).toBe(2);
});

test('a process that does not answer is counted with what it told last', async () => {
  const gathered = gatherMetrics();
  const silent = worker();
  silent.serve(5);
  gathered.told(1, await silent.tell());
  silent.serve(5);
  expect((await read(gathered.text()))(requests)).toBe(5);
  gathered.told(1, await silent.tell());
  expect((await read(gathered.text()))(requests)).toBe(10);
});

test('a process that goes before it told anything counts nothing', async () => {
  const gathered = gatherMetrics();
  gathered.gone(1);
  expect(await gathered.text()).toBe('\n');
});

test('what a process told, and comes when it is gone, is not counted twice', async () => {
  const gathered = gatherMetrics();
  const goes = worker();
  goes.serve(5);
  const told = await goes.tell();
  gathered.told(1, told);
  gathered.gone(1);
  gathered.told(1, told);
  const value = await read(gathered.text());
  expect(value(requests)).toBe(5);
  expect(value('gateway_calls_in_flight')).toBeUndefined();
});
