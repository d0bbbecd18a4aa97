import type { RequestRecord } from 'trpc-gateway';
import { expect, test } from 'vitest';
import { createRequestMetrics } from './requestMetrics.ts';
import { record } from '../testing/record.ts';

/** Counts requests and returns the samples that are not zero, as `name{labels} value`, without buckets. */
function count(...changes: readonly Partial<RequestRecord>[]): string[] {
  const { onResponse, families } = createRequestMetrics('x_');
  for (const change of changes) onResponse({ ...record, ...change });
  return families().flatMap(({ name, values }) =>
    values
      .filter(({ metricName = '', value }) => value !== 0 && !metricName.endsWith('_bucket'))
      .map(
        ({ metricName = name, labels, value }) => `${metricName}{${Object.values(labels).join()}} ${value}`,
      ),
  );
}

const conflict = { procedure: 'a', code: 'CONFLICT' };
const unknown = { procedure: undefined, code: 'NOT_FOUND' };

test.each<[what: string, change: Partial<RequestRecord>, samples: readonly string[]]>([
  [
    'a batch is counted once, and its calls and errors by procedure and code',
    { protocol: 'trpc', calls: 3, procedures: ['a', 'b', 'a'], callErrors: [conflict, conflict] },
    [
      'requests_total{trpc,batch,2xx} 1',
      'calls_total{trpc,a} 2',
      'calls_total{trpc,b} 1',
      'call_errors_total{trpc,a,CONFLICT} 2',
    ],
  ],
  [
    'a batch with one known procedure is a batch, and a call of an unknown one has the operation none',
    { protocol: 'trpc', calls: 2, procedures: ['a'], callErrors: [unknown] },
    [
      'requests_total{trpc,batch,2xx} 1',
      'calls_total{trpc,a} 1',
      'calls_total{trpc,none} 1',
      'call_errors_total{trpc,none,NOT_FOUND} 1',
    ],
  ],
  [
    'a call on a WebSocket has the protocol websocket',
    { method: 'WS', protocol: 'trpc' },
    ['requests_total{websocket,listPets,2xx} 1', 'calls_total{websocket,listPets} 1'],
  ],
  [
    'a page has no calls',
    { protocol: 'other', calls: 0, procedures: [] },
    ['requests_total{other,none,2xx} 1'],
  ],
])('%s', (_, change, samples) => {
  const counted = count(change).filter((sample) => /^x_(?:requests|calls|call_errors)_total/.test(sample));
  expect(counted).toEqual(samples.map((sample) => `x_${sample}`));
});

test('each called operation has failed calls with each code of a server error at 0, since rate() needs a first sample', () => {
  const { onResponse, families } = createRequestMetrics('x_');
  onResponse(record);
  onResponse({ ...record, protocol: 'other', procedures: [], calls: 0 });
  const codes = [
    'INTERNAL_SERVER_ERROR',
    'NOT_IMPLEMENTED',
    'BAD_GATEWAY',
    'SERVICE_UNAVAILABLE',
    'GATEWAY_TIMEOUT',
  ];
  expect(families().find(({ name }) => name === 'x_call_errors_total')?.values).toEqual(
    codes.map((code) => ({ labels: { protocol: 'rest', operation: 'listPets', code }, value: 0 })),
  );
});

test.each([101, 200, 299, 304, 400, 499, 500, 599])('status %i is counted by its class', (status) => {
  expect(count({ status })).toContain(`x_requests_total{rest,listPets,${Math.floor(status / 100)}xx} 1`);
});

test('2xx, 4xx and 5xx of an operation are exported at 0, and other classes only once they occurred', () => {
  const { onResponse, families } = createRequestMetrics('x_');
  onResponse({ ...record, status: 200 });
  const classes = () => families()[0]?.values.map(({ labels, value }) => [labels['status'], value]);
  expect(classes()).toEqual([
    ['2xx', 1],
    ['4xx', 0],
    ['5xx', 0],
  ]);
  onResponse({ ...record, status: 304 });
  expect(classes()).toContainEqual(['3xx', 1]);
});

test('durations are observed in seconds without those of streams, which are counted', () => {
  const counted = count({ durationMs: 250 }, { durationMs: 500 }, { durationMs: 9000, isStream: true });
  expect(counted).toContain('x_requests_total{rest,listPets,2xx} 3');
  expect(counted.filter((sample) => sample.startsWith('x_request_duration'))).toEqual([
    'x_request_duration_seconds_sum{rest,listPets} 0.75',
    'x_request_duration_seconds_count{rest,listPets} 2',
  ]);
});

test('bytes are summed by protocol, and unknown ones are no bytes', () => {
  const counted = count(
    { bytesIn: 1, bytesOut: 10 },
    { bytesIn: 2, bytesOut: 20, operation: undefined, procedures: [] },
    { protocol: 'trpc', bytesIn: 4, bytesOut: 40 },
    { protocol: 'trpc', bytesIn: undefined, bytesOut: undefined },
  );
  expect(counted.filter((sample) => sample.includes('_body_bytes_'))).toEqual([
    'x_request_body_bytes_total{rest} 3',
    'x_request_body_bytes_total{trpc} 4',
    'x_response_body_bytes_total{rest} 30',
    'x_response_body_bytes_total{trpc} 40',
  ]);
});

test('results of tools are counted by their bytes, the largest and those that were cut, and repeats over every protocol', () => {
  const { onResponse, families } = createRequestMetrics('x_');
  const call = { ...record, protocol: 'mcp' } as const;
  const results = Array.from({ length: 101 }, (_, at) => ({ ...call, resultBytes: at < 94 ? 400 : 30_000 }));
  const cut = { ...call, resultBytes: 79_000, isResultCut: true } as const;
  for (const each of [cut, ...results.slice(1), { ...record, isReplay: true }, record]) onResponse(each);
  const familyOf = (name: string) => families().find((family) => family.name === `x_${name}`);
  const valuesOf = (name: string) => familyOf(name)?.values;
  const within = Object.fromEntries(
    (valuesOf('tool_result_bytes') ?? []).map(({ labels, metricName, value }) => [
      labels['le'] ?? metricName,
      value,
    ]),
  );
  expect(within).toMatchObject({ 500: 93, 20_000: 93, 40_000: 100, 80_000: 101, '+Inf': 101 });
  expect(within).toMatchObject({ x_tool_result_bytes_sum: 93 * 400 + 7 * 30_000 + 79_000 });
  const labels = { operation: 'listPets' };
  expect(familyOf('tool_result_largest_bytes')).toMatchObject({
    aggregator: 'max',
    values: [{ labels, value: 79_000 }],
  });
  expect(valuesOf('tool_results_cut_total')).toEqual([{ labels, value: 1 }]);
  expect(valuesOf('replayed_calls_total')?.map(({ value }) => value)).toEqual([1, 0]);
});

test('requests that exceeded a limit are counted by limit, over all protocols and statuses', () => {
  const counted = count(
    { limit: 'rate', status: 429 },
    { limit: 'rate', status: 429, protocol: 'trpc' },
    { limit: 'in-flight', status: 503 },
    {},
  );
  expect(counted.filter((sample) => sample.startsWith('x_limited'))).toEqual([
    'x_limited_requests_total{rate} 2',
    'x_limited_requests_total{in-flight} 1',
  ]);
});
