import { expect, it, vi } from 'vitest';
import { needs } from '../servers.ts';
import {
  batchTarget,
  nestedJson,
  startService,
  validKey,
  type Service,
  type ServiceOptions,
  type ServiceRequest,
} from '../startService.ts';

// Each limit: a request at it is served, and one beyond gets its status and message, and its name in the record, by which
// metrics and logs distinguish limits.

interface Exceeded {
  readonly options?: ServiceOptions;
  readonly before?: (service: Service) => Promise<unknown>;
  readonly served: readonly [target: string, init?: ServiceRequest];
  readonly rejected: readonly [target: string, init?: ServiceRequest];
  readonly status: number;
  readonly message: string;
  /** Whether the response has `Retry-After`. */
  readonly isTemporary?: boolean;
}

const json = (body: string): ServiceRequest => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json' },
});
const lists = (count: number) => JSON.stringify(Array.from({ length: count }, () => []));
const otherKey = (token: string): ServiceRequest => ({ headers: { authorization: `Bearer ${token}` } });
const tags = (count: number) => 'tag=a&'.repeat(count - 1) + 'tag=a';

/** A limit of the JSON of an input, over each protocol that reads it. `write` puts a value into the input of a call. */
const overEach = (
  limit: string,
  message: string,
  value: (write: (json: string) => string, isBeyond: boolean, index: number) => ServiceRequest,
): readonly (readonly [limit: string, exceeded: Exceeded])[] =>
  (
    [
      ['/v1/write', (each: string) => `{"value":${each}}`],
      ['/trpc/write', (each: string) => `{"value":${each}}`],
      ['/trpc/write,write?batch=1', (each: string) => `{"0":{"value":1},"1":{"value":${each}}}`],
    ] as const
  ).map(([target, write], index) => [
    limit,
    {
      served: [target, value(write, false, index)],
      rejected: [target, value(write, true, index)],
      status: 400,
      message,
    },
  ]);

const cases: readonly (readonly [limit: string, exceeded: Exceeded])[] = [
  ...(
    [
      ['/v1/write', 'The body is larger than 13 bytes.'],
      ['/trpc/write', 'PAYLOAD_TOO_LARGE'],
    ] as const
  ).map(
    ([target, message]) =>
      [
        'body-bytes',
        {
          options: { maxBodySize: 13 },
          served: [target, json('{"value":"a"}')],
          rejected: [target, json('{"value":"ab"}')],
          status: 413,
          message,
        },
      ] as const,
  ),
  [
    'response-bytes',
    {
      options: { maxResponseSize: 1000 },
      served: ['/v1/large?bytes=1000'],
      rejected: ['/v1/large?bytes=1001'],
      status: 413,
      message: 'The response is larger than 1000 bytes (maxResponseSize).',
    },
  ],
  ...['/v1/list', '/trpc/list'].flatMap((target) =>
    [
      [tags(1000), tags(1001)],
      // Empty parameters count too.
      ['&'.repeat(999), '&'.repeat(1000)],
    ].map(
      ([most, more]) =>
        [
          'query-parameters',
          {
            served: [`${target}?${most}`],
            rejected: [`${target}?${more}`],
            status: 400,
            message: 'The query has more than 1000 parameters.',
          },
        ] as const,
    ),
  ),
  ...overEach('json-depth', 'The input is nested deeper than 100 levels.', (write, isBeyond) =>
    json(write(nestedJson(isBeyond ? 100 : 99))),
  ),
  // The inputs and their values count too, and the first call of the batch.
  ...overEach(
    'json-containers',
    'The input has more than 65536 arrays and objects',
    (write, isBeyond, index) => json(write(lists((index === 2 ? 65_533 : 65_534) + Number(isBeyond)))),
  ),
  [
    'batch-size',
    {
      options: { trpc: { maxBatchSize: 2 } },
      served: [batchTarget('list', 2)],
      rejected: [batchTarget('list', 3)],
      status: 400,
      message: 'Batch call exceeds maximum size',
    },
  ],
  [
    'in-flight',
    {
      options: { maxInFlight: 2 },
      before: async ({ gateway, send }) => {
        // Not awaited: it runs during the other requests.
        send('/v1/slow?ms=20000').catch(() => {});
        await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
      },
      served: ['/v1/list'],
      rejected: [batchTarget('slow', 2)],
      status: 207,
      message: 'The server is at its limit of 2 concurrent calls. Try again later.',
      isTemporary: true,
    },
  ],
  [
    'rate',
    {
      options: { rateLimit: { calls: 2, windowMs: 600_000 } },
      served: [batchTarget('list', 2)],
      rejected: ['/v1/list'],
      status: 429,
      message: 'The rate limit of 2 calls in 600 s is exceeded. Try again later.',
      isTemporary: true,
    },
  ],
  [
    'failed-attempts',
    {
      options: { failedAttempts: { attempts: 1, windowMs: 600_000 } },
      before: async ({ send }) => send('/v1/list', otherKey('bad-1')),
      served: ['/v1/list'],
      rejected: ['/v1/list', otherKey('bad-2')],
      status: 429,
      message: 'Too many invalid tokens from this address: the limit is 1 in 600 s. Try again later.',
      isTemporary: true,
    },
  ],
  [
    'call-timeout',
    {
      options: { callTimeoutMs: 200 },
      served: ['/v1/slow?ms=1'],
      rejected: ['/v1/slow?ms=20000'],
      status: 504,
      message: 'The call timed out after 200 ms.',
    },
  ],
  [
    'url-bytes',
    {
      served: [`/v1/list?a=${'b'.repeat(16_373)}`],
      rejected: [`/v1/list?a=${'b'.repeat(16_374)}`],
      status: 414,
      message: '',
    },
  ],
  [
    'header-bytes',
    {
      served: ['/v1/list', { headers: { authorization: validKey, 'x-long': 'a'.repeat(15_000) } }],
      rejected: ['/v1/list', { headers: { authorization: validKey, 'x-long': 'a'.repeat(16_384) } }],
      status: 431,
      message: '',
    },
  ],
];

it.each(cases.map(([limit, exceeded]) => [limit, exceeded.served[0].slice(0, 30), exceeded] as const))(
  'a request beyond the limit %s is rejected and its record has the name; one at the limit is served: %s',
  async (limit, _target, { options, before, served, rejected, status, message, isTemporary = false }) => {
    if (limit === 'url-bytes' || limit === 'header-bytes') needs('a port');
    const service = await startService(options);
    const { send, records } = service;
    await before?.(service);
    const accepted = await send(...served);
    expect([accepted.status, accepted.headers.get('retry-after')]).toEqual([200, null]);
    await accepted.text();
    const response = await send(...rejected);
    expect([response.status, response.headers.has('retry-after')]).toEqual([status, isTemporary]);
    expect(await response.text()).toContain(message);
    await vi.waitFor(() => expect(records.at(-1)?.status).toBe(status));
    expect(records.slice(-2)).toMatchObject([
      { status: 200, limit: undefined },
      { status, limit, error: undefined },
    ]);
  },
);
