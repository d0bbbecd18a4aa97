import { expect, it, vi } from 'vitest';
import { needs } from '../servers.ts';
import { type Edge, type EdgeOptions, type EdgeRequest, startEdge, validKey } from './startEdge.ts';

// Metrics and logs distinguish limits by `limit`: each has its row, beside a request at the limit that is served.

interface Exceeded {
  readonly options?: EdgeOptions;
  readonly before?: (edge: Edge) => Promise<unknown>;
  readonly served: readonly [target: string, init?: EdgeRequest];
  readonly rejected: readonly [target: string, init?: EdgeRequest];
  readonly status: number;
  /** Whether the response has `Retry-After`. */
  readonly isTemporary?: boolean;
}

const json = (body: unknown): EdgeRequest => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
const otherKey = (token: string): EdgeRequest => ({ headers: { authorization: `Bearer ${token}` } });
const batchOf = (calls: number) => `/trpc/${Array.from({ length: calls }, () => 'list').join(',')}?batch=1`;

const cases: Readonly<Record<string, Exceeded>> = {
  'body-bytes': {
    options: { maxBodyBytes: 13 },
    served: ['/v1/write', json({ value: 'a' })],
    rejected: ['/v1/write', json({ value: 'ab' })],
    status: 413,
  },
  'response-bytes': {
    options: { maxResponseBytes: 1000 },
    served: ['/v1/large?bytes=1000'],
    rejected: ['/v1/large?bytes=1001'],
    status: 413,
  },
  'query-parameters': {
    options: {},
    served: [`/v1/list?${'tag=a&'.repeat(999)}tag=a`],
    rejected: [`/v1/list?${'tag=a&'.repeat(1000)}tag=a`],
    status: 400,
  },
  'json-depth': {
    options: {},
    served: ['/v1/write', json({ value: nested(99) })],
    rejected: ['/v1/write', json({ value: nested(100) })],
    status: 400,
  },
  'json-containers': {
    options: {},
    // The body and the list count too.
    served: ['/v1/write', json({ value: Array.from({ length: 65_534 }, () => ({})) })],
    rejected: ['/v1/write', json({ value: Array.from({ length: 65_535 }, () => ({})) })],
    status: 400,
  },
  'batch-size': {
    options: { trpc: { maxBatchSize: 2 } },
    served: [batchOf(2)],
    rejected: [batchOf(3)],
    status: 400,
  },
  'in-flight': {
    options: { maxInFlight: 2 },
    before: async ({ gateway, send }) => {
      // Not awaited: it runs during the other requests.
      send('/v1/slow?ms=20000').catch(() => {});
      await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
    },
    served: ['/v1/list'],
    rejected: [batchOf(2)],
    status: 503,
    isTemporary: true,
  },
  rate: {
    options: { rateLimit: { calls: 2, windowSeconds: 600 } },
    served: [batchOf(2)],
    rejected: ['/v1/list'],
    status: 429,
    isTemporary: true,
  },
  'failed-attempts': {
    options: { failedAttempts: { attempts: 1, windowSeconds: 600 } },
    before: async ({ send }) => send('/v1/list', otherKey('bad-1')),
    served: ['/v1/list'],
    rejected: ['/v1/list', otherKey('bad-2')],
    status: 429,
    isTemporary: true,
  },
  'call-timeout': {
    options: { callTimeoutMs: 200 },
    served: ['/v1/slow?ms=1'],
    rejected: ['/v1/slow?ms=20000'],
    status: 504,
  },
  'url-bytes': {
    served: [`/v1/list?a=${'b'.repeat(16_373)}`],
    rejected: [`/v1/list?a=${'b'.repeat(16_374)}`],
    status: 414,
  },
  'header-bytes': {
    served: ['/v1/list', { headers: { authorization: validKey, 'x-long': 'a'.repeat(15_000) } }],
    rejected: ['/v1/list', { headers: { authorization: validKey, 'x-long': 'a'.repeat(16_384) } }],
    status: 431,
  },
};

it.each(Object.entries(cases))(
  'the record of a request over the limit %s has its name, and a request at the limit is served without one',
  async (limit, { options, before, served, rejected, status, isTemporary = false }) => {
    if (limit === 'url-bytes' || limit === 'header-bytes') needs('a port');
    const edge = await startEdge(options);
    const { send, records } = edge;
    await before?.(edge);
    const accepted = await send(...served);
    expect([accepted.status, accepted.headers.get('retry-after')]).toEqual([200, null]);
    await accepted.text();
    const response = await send(...rejected);
    expect([response.status, response.headers.has('retry-after')]).toEqual([status, isTemporary]);
    await response.text();
    await vi.waitFor(() => expect(records.at(-1)?.status).toBe(status));
    expect(records.slice(-2)).toMatchObject([
      { status: 200, limit: undefined },
      { status, limit },
    ]);
  },
);
