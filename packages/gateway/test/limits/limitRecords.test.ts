import { expect, it, vi } from 'vitest';
import { needs } from '../servers.ts';
import {
  batchTarget,
  nestedJson,
  startService,
  validKey,
  type ServiceOptions,
  type ServiceRequest,
} from '../startService.ts';

// A request at a limit is served; one beyond gets its status, message, and name in the record, for metrics.

type Sent = readonly [target: string, init?: ServiceRequest];

type Exceeded = readonly [
  limit: string,
  served: Sent,
  rejected: Sent,
  status: number,
  message: string,
  options?: ServiceOptions,
];

const json = (body: string): ServiceRequest => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json' },
});
const lists = (count: number) => JSON.stringify(Array.from({ length: count }, () => []));
const withHeader = (bytes: number): ServiceRequest => ({
  headers: { authorization: validKey, 'x-long': 'a'.repeat(bytes) },
});
const tags = (count: number) => 'tag=a&'.repeat(count - 1) + 'tag=a';

/** A limit of the JSON of an input, over each protocol that reads it. */
const overEach = (
  limit: string,
  message: string,
  value: (isBeyond: boolean, index: number) => string,
): readonly Exceeded[] =>
  (
    [
      ['/v1/write', (each: string) => `{"value":${each}}`],
      ['/trpc/write', (each: string) => `{"value":${each}}`],
      ['/trpc/write,write?batch=1', (each: string) => `{"0":{"value":1},"1":{"value":${each}}}`],
    ] as const
  ).map(([target, write], index) => [
    limit,
    [target, json(write(value(false, index)))],
    [target, json(write(value(true, index)))],
    400,
    message,
  ]);

const cases: readonly Exceeded[] = [
  ...(
    [
      ['/v1/write', 'The body is larger than 13 bytes.'],
      ['/trpc/write', 'PAYLOAD_TOO_LARGE'],
    ] as const
  ).map(([target, message]): Exceeded => {
    const [served, rejected] = [json('{"value":"a"}'), json('{"value":"ab"}')];
    return ['body-bytes', [target, served], [target, rejected], 413, message, { maxBodySize: 13 }];
  }),
  ...['/v1/list', '/trpc/list'].flatMap((target) =>
    [
      [tags(1000), tags(1001)],
      // Empty parameters count too.
      ['&'.repeat(999), '&'.repeat(1000)],
    ].map(([most, more]): Exceeded => {
      const message = 'The query has more than 1000 parameters.';
      return ['query-parameters', [`${target}?${most}`], [`${target}?${more}`], 400, message];
    }),
  ),
  ...overEach('json-depth', 'The input is nested deeper than 100 levels.', (isBeyond) =>
    nestedJson(isBeyond ? 100 : 99),
  ),
  // The inputs and their values count too, and the first call of the batch.
  ...overEach('json-containers', 'The input has more than 65536 arrays and objects', (isBeyond, index) =>
    lists((index === 2 ? 65_533 : 65_534) + Number(isBeyond)),
  ),
  ...[{ trpc: { maxBatchSize: 2 } }, { maxInFlight: 2, trpc: { maxBatchSize: 5 } }].map(
    (options): Exceeded => {
      const message = 'Batch call exceeds maximum size';
      return ['batch-size', [batchTarget('list', 2)], [batchTarget('list', 3)], 400, message, options];
    },
  ),
  ['url-bytes', [`/v1/list?a=${'b'.repeat(16_373)}`], [`/v1/list?a=${'b'.repeat(16_374)}`], 414, ''],
  ['header-bytes', ['/v1/list', withHeader(15_000)], ['/v1/list', withHeader(16_384)], 431, ''],
];

it.each(cases.map((exceeded) => [exceeded[0], exceeded[1][0].slice(0, 30), exceeded] as const))(
  'a request beyond the limit %s is rejected and its record has the name; one at the limit is served: %s',
  async (limit, _target, [, served, rejected, status, message, options]) => {
    if (limit === 'url-bytes' || limit === 'header-bytes') needs('a port');
    const { send, records } = await startService(options);
    const accepted = await send(...served);
    expect(accepted.status).toBe(200);
    await accepted.text();
    const response = await send(...rejected);
    expect([response.status, response.headers.has('retry-after')]).toEqual([status, false]);
    expect(await response.text()).toContain(message);
    await vi.waitFor(() => expect(records.at(-1)?.status).toBe(status));
    expect(records.slice(-2)).toMatchObject([
      { status: 200, limit: undefined },
      { status, limit, error: undefined },
    ]);
  },
);
