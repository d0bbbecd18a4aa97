import { TRPCError } from '@trpc/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FetchRequest } from '../adapters/server/fetchRequest.ts';
import { createFailedAttempts } from '../auth/failedAttempts.ts';
import { OutgoingResponse } from '../http/response.ts';
import { memoryState } from '../state/memoryState.ts';
import { createRateLimit, type RateLimitOptions } from './rateLimit.ts';
import type { HttpRequest } from '../http/request.ts';
import { RequestContext } from '../calls/requestContext.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

type Identity = { readonly team: string };

const create = (options: Partial<RateLimitOptions<Identity>> = {}) =>
  createRateLimit<Identity>({ calls: 10, windowSeconds: 5, ...options }, (request) =>
    request.remoteAddress(),
  );

function context(caller: { token?: string; identity?: Identity; address?: string } = {}) {
  const { token, identity, address = '192.0.2.1' } = caller;
  const request = new FetchRequest(new Request('http://localhost/v1/pets'), 0, address);
  const requestContext = new RequestContext<Identity>(request, 'rest', 'id', 0);
  requestContext.credential = token;
  requestContext.identity = identity;
  return requestContext;
}

it('rateLimit admits calls within the limit, and adds RateLimit-Policy and RateLimit with the calls left', () => {
  const rateLimit = create();
  const first = context({ token: 'a' });
  expect(rateLimit.count(first, 3)).toBeUndefined();
  const response = new OutgoingResponse(200);
  void rateLimit.complete?.(first, response);
  expect(response.headers).toEqual([
    ['ratelimit-policy', '"default";q=10;w=5'],
    ['ratelimit', '"default";r=7;t=1'],
  ]);
});

it('rateLimit rejects a batch over the limit as a whole, with the time to wait in whole seconds', () => {
  const rateLimit = create();
  void rateLimit.count(context({ token: 'a' }), 8);
  const next = context({ token: 'a' });
  expect(rateLimit.count(next, 5)).toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    limit: 'rate',
    message: 'The rate limit of 10 calls in 5 s is exceeded. Try again later.',
    retryAfterSeconds: 2,
  });
  expect(next.rateLimit).toBe('"default";r=2;t=1');
  vi.advanceTimersByTime(1500);
  expect(rateLimit.count(context({ token: 'a' }), 5)).toBeUndefined();
});

it('t of RateLimit is the seconds until there is another call, which is never after Retry-After', () => {
  const rateLimit = create({ calls: 2, windowSeconds: 20 });
  const count = (cost: number) => {
    const counted = context({ token: 'a' });
    const rejection = rateLimit.count(counted, cost) as { retryAfterSeconds?: number } | undefined;
    return [counted.rateLimit, rejection?.retryAfterSeconds];
  };
  expect(count(0)).toEqual(['"default";r=2;t=0', undefined]);
  expect(count(1)).toEqual(['"default";r=1;t=10', undefined]);
  expect(count(2)).toEqual(['"default";r=1;t=10', 10]);
  vi.advanceTimersByTime(3000);
  expect(count(1)).toEqual(['"default";r=0;t=7', undefined]);
  expect(count(1)).toEqual(['"default";r=0;t=7', 7]);
  expect(count(2)).toEqual(['"default";r=0;t=7', 17]);
  vi.advanceTimersByTime(7000);
  expect(count(1)).toEqual(['"default";r=0;t=10', undefined]);
});

it.each([3, 7, 60, 1000, 7919])('with %d calls in 60 s, t of RateLimit is at most Retry-After', (calls) => {
  const rateLimit = create({ calls, windowSeconds: 60 });
  void rateLimit.count(context(), calls);
  for (let turn = 0; turn < 200; turn += 1) {
    vi.advanceTimersByTime((turn * 37) % 1000);
    const counted = context();
    const rejection = rateLimit.count(counted, 1 + (turn % 3)) as { retryAfterSeconds: number } | undefined;
    const t = Number(/;t=(\d+)$/.exec(counted.rateLimit ?? '')?.[1]);
    expect(t).toBeLessThanOrEqual(rejection?.retryAfterSeconds ?? Math.ceil(60 / calls));
  }
});

it('rateLimit rounds a wait of less than a second up to one second', () => {
  const rateLimit = create({ calls: 100 });
  void rateLimit.count(context(), 100);
  expect(rateLimit.count(context(), 1)).toMatchObject({ retryAfterSeconds: 1 });
});

it('rateLimit admits a batch as large as the limit, and says that a larger one is never allowed', async () => {
  const rateLimit = create();
  expect(rateLimit.count(context({ token: 'a' }), 10)).toBeUndefined();
  const message = async (token: string, cost: number) =>
    (await rateLimit.count(context({ token }), cost))?.message;
  expect(await message('a', 10)).toBe('The rate limit of 10 calls in 5 s is exceeded. Try again later.');
  expect(await message('b', 11)).toBe(
    'The request counts as 11 calls, but the rate limit is 10 calls in 5 s. Send fewer calls in a batch.',
  );
  // The bucket is full, but Retry-After: 0 would ask the client to retry at once.
  expect(await rateLimit.count(context({ token: 'c' }), 11)).toMatchObject({ retryAfterSeconds: 1 });
});

it('rateLimit counts callers by credential, or by address without one', () => {
  const rateLimit = create({ calls: 1 });
  const count = (caller: Parameters<typeof context>[0]) => rateLimit.count(context(caller), 1) === undefined;
  expect(count({ token: 'a', address: '192.0.2.1' })).toBe(true);
  expect(count({ token: 'a', address: '192.0.2.2' })).toBe(false);
  expect(count({ token: 'b', address: '192.0.2.1' })).toBe(true);
  expect(count({ address: '192.0.2.1' })).toBe(true);
  expect(count({ address: '192.0.2.1' })).toBe(false);
  expect(count({ address: '192.0.2.2' })).toBe(true);
  // A credential that looks like an address has its own bucket.
  expect(count({ token: '192.0.2.3' })).toBe(true);
  expect(count({ address: '192.0.2.3' })).toBe(true);
});

it('rateLimit counts callers by the result of rateLimit.key', () => {
  const rateLimit = create({
    calls: 1,
    key: ({ identity, request }) => identity?.team ?? request.path,
  });
  const count = (identity?: Identity) =>
    rateLimit.count(context({ token: String(identity?.team), ...(identity && { identity }) }), 1) ===
    undefined;
  expect([count({ team: 'red' }), count({ team: 'red' }), count({ team: 'blue' }), count()]).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

it('rateLimit counts a caller for whom rateLimit.key returns undefined by default, apart from all own keys', () => {
  const key = ({ identity }: { identity: Identity | undefined }) => identity?.team;
  const rateLimit = create({ calls: 1, key });
  const count = (caller: Parameters<typeof context>[0]) => rateLimit.count(context(caller), 1) === undefined;
  expect(count({ address: '192.0.2.1' })).toBe(true);
  expect(count({ address: '192.0.2.2' })).toBe(true);
  expect(count({ address: '192.0.2.2' })).toBe(false);
  const [byAddress, byToken] = ['address 192.0.2.3', 'credential undefined b'];
  expect(count({ token: 'a', identity: { team: byAddress } })).toBe(true);
  expect(count({ address: '192.0.2.3' })).toBe(true);
  expect(count({ token: 'a', identity: { team: byToken } })).toBe(true);
  expect(count({ token: 'b' })).toBe(true);
});

it('rateLimit counts all callers together for which rateLimit.key returns the empty string', () => {
  const rateLimit = create({ calls: 1, key: ({ identity }) => identity?.team ?? '' });
  const count = (caller: Parameters<typeof context>[0]) => rateLimit.count(context(caller), 1) === undefined;
  expect(count({ address: '192.0.2.1' })).toBe(true);
  expect(count({ address: '192.0.2.2' })).toBe(false);
  expect(count({ token: 'a', identity: { team: '' } })).toBe(false);
  expect(count({ token: 'a', identity: { team: 'red' } })).toBe(true);
});

it.each([
  [new Error('The teams cannot be read.'), 'INTERNAL_SERVER_ERROR'],
  [new TRPCError({ code: 'SERVICE_UNAVAILABLE' }), 'SERVICE_UNAVAILABLE'],
])('rateLimit rejects a call if rateLimit.key throws %s, with the code %s', (error, code) => {
  const rateLimit = create({
    key() {
      throw error;
    },
  });
  expect(rateLimit.count(context(), 1)).toMatchObject({ code });
});

it('rateLimit and failedAttempts count separately in one state, also with equal keys', () => {
  const state = memoryState();
  const address = (request: HttpRequest) => request.remoteAddress();
  const attempts = createFailedAttempts({ attempts: 1, windowSeconds: 60 }, address, state);
  const options = {
    calls: 1,
    windowSeconds: 60,
    key: ({ request }: { request: HttpRequest }) => address(request),
  };
  const rateLimit = createRateLimit(options, address, state);
  expect(attempts.count(context().request, 'a', undefined, 'token')).toBeUndefined();
  expect(rateLimit.count(context(), 1)).toBeUndefined();
  expect(rateLimit.count(context(), 1)).toMatchObject({ limit: 'rate' });
});

it('the policy of rateLimit counts every call of a request', async () => {
  const rateLimit = create();
  const admitted = context({ token: 'a' });
  admitted.target = { procedures: [], callCount: 4, isPublic: false };
  expect(await rateLimit.admit?.(admitted)).toBeUndefined();
  expect(admitted.rateLimit).toBe('"default";r=6;t=1');
});
