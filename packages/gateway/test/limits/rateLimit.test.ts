import { memoryState, type State } from 'trpc-gateway';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { batchTarget, validKey, otherValidKey, startService } from '../startService.ts';

const startLimited = (calls: number, windowMs = 60_000) => startService({ rateLimit: { calls, windowMs } });
/** Starts a service whose bucket is empty. */
async function startEmpty(calls: number) {
  const service = await startLimited(calls);
  await (await service.send(batchTarget('list', calls))).text();
  return service;
}
const policyOf = ({ headers }: Response) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

// Buckets do not refill while a test runs.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('responses have no RateLimit headers without rateLimit', async () => {
  const { send } = await startService();
  expect(policyOf(await send('/v1/list'))).toEqual([null, null]);
});

it('rateLimit counts REST, tRPC, batches and WebSockets together, and responses have RateLimit and RateLimit-Policy', async () => {
  const { send, dial, post } = await startLimited(10);
  expect(policyOf(await send('/v1/list'))).toEqual(['"default";q=10;w=60', '"default";r=9;t=6']);
  expect(policyOf(await send('/trpc/list'))).toEqual(['"default";q=10;w=60', '"default";r=8;t=6']);
  expect(policyOf(await post('/v1/write', '{'))[1]).toBe('"default";r=7;t=6');
  expect(policyOf(await send('/v1/nowhere'))[1]).toBe('"default";r=6;t=6');
  expect(policyOf(await send(batchTarget('list', 3)))[1]).toBe('"default";r=3;t=6');
  // The upgrade counts as one, and so does each call.
  const { call } = dial();
  const list = { method: 'query', params: { path: 'list' } };
  expect(await call({ id: 1, ...list })).toMatchObject({ id: 1, result: { data: 0 } });
  expect(policyOf(await send('/v1/list'))[1]).toBe('"default";r=0;t=6');
  expect(await call({ id: 2, ...list })).toMatchObject({
    id: 2,
    error: {
      message: 'The rate limit of 10 calls in 60 s is exceeded. Try again later.',
      data: { code: 'TOO_MANY_REQUESTS' },
    },
  });
});

it('a call counts as its rateLimitCost over REST, tRPC, in a batch and on a WebSocket', async () => {
  const { send, dial } = await startLimited(20, 3_600_000);
  const left = async (target: string) => policyOf(await send(target))[1]?.split(';')[1];
  expect(await left('/v1/costly')).toBe('r=17');
  expect(await left('/trpc/costly')).toBe('r=14');
  expect(await left('/trpc/costly,list,costly?batch=1')).toBe('r=7');
  const { call } = dial();
  expect(await call({ id: 1, method: 'query', params: { path: 'costly' } })).toMatchObject({
    id: 1,
    result: { data: 3 },
  });
  expect(await left('/v1/list')).toBe('r=2');
  // More than is left. A rejected call counts nothing.
  expect((await send('/v1/costly')).status).toBe(429);
  const part = await send('/trpc/costly,list,free,list,list?batch=1');
  expect(await part.json()).toMatchObject([
    { error: { data: { code: 'TOO_MANY_REQUESTS' } } },
    { result: { data: 0 } },
    { result: { data: 0 } },
    { result: { data: 0 } },
    { error: { data: { code: 'TOO_MANY_REQUESTS' } } },
  ]);
  // Four tokens are missing, each of which takes three minutes.
  expect([part.status, part.headers.get('retry-after')]).toEqual([207, '720']);
  expect((await send('/v1/list')).status).toBe(429);
  expect((await send('/v1/free')).status).toBe(200);
  expect((await send('/trpc/free')).status).toBe(200);
});

it('rateLimit counts calls of unknown procedures, alone, in a batch and with a known one', async () => {
  const { send } = await startLimited(10);
  expect(policyOf(await send('/trpc/nowhere'))[1]).toBe('"default";r=9;t=6');
  expect(policyOf(await send(batchTarget('nowhere', 3)))[1]).toBe('"default";r=6;t=6');
  expect(policyOf(await send('/trpc/nowhere,list?batch=1'))[1]).toBe('"default";r=4;t=6');
});

it('a call over rateLimit is answered with 429 and Retry-After, in the error format of its protocol', async () => {
  const { send, dial, records, counters } = await startLimited(2);
  await send(batchTarget('list', 2));
  const message = 'The rate limit of 2 calls in 60 s is exceeded. Try again later.';
  const rest = await send('/v1/slow');
  expect([rest.status, await rest.json()]).toEqual([
    429,
    { code: 'TOO_MANY_REQUESTS', message, status: 429 },
  ]);
  expect(policyOf(rest)).toEqual(['"default";q=2;w=60', '"default";r=0;t=30']);
  expect(rest.headers.get('retry-after')).toBe('30');
  const rpc = await send('/trpc/slow');
  expect([rpc.status, await rpc.json()]).toMatchObject([429, { error: { message } }]);
  expect(policyOf(rpc)).toEqual(['"default";q=2;w=60', '"default";r=0;t=30']);
  expect(rpc.headers.get('retry-after')).toBe('30');
  expect(await dial().status).toBe(429);
  expect(counters.begun).toBe(0);
  expect(records.map(({ limit }) => limit)).toEqual([undefined, 'rate', 'rate', 'rate']);
});

it.each(['/v1/ticks', '/trpc/ticks'])(
  'an EventSource over rateLimit connects to %s again after 30 s, also if Retry-After is 60',
  async (path) => {
    const { send } = await startEmpty(1);
    const events = await send(path, { headers: { accept: 'text/event-stream' } });
    expect([events.status, await events.text()]).toEqual([
      200,
      expect.stringMatching(/^retry: 3[01]\d{3}\n/),
    ]);
  },
);

it('of a batch of more calls than rateLimit.calls, those beyond it are rejected with 429, and the message says so', async () => {
  const { send } = await startLimited(5);
  const response = await send(batchTarget('list', 6));
  const message =
    'The request counts as 6 calls, but the rate limit is 5 calls in 60 s. Send fewer calls in a batch.';
  expect(await response.json()).toMatchObject([
    ...Array.from({ length: 5 }, () => ({ result: { data: 0 } })),
    { error: { message } },
  ]);
  expect([response.status, response.headers.get('retry-after')]).toEqual([207, '12']);
});

it('rateLimit counts each caller separately, and does not count a 401', async () => {
  const { send } = await startLimited(1);
  for (const authorization of ['', 'Bearer bad-key', 'Bearer']) {
    const response = await send('/v1/list', { headers: { authorization } });
    expect([response.status, ...policyOf(response)]).toEqual([401, null, null]);
  }
  const statusFor = async (authorization: string) =>
    (await send('/v1/list', { headers: { authorization } })).status;
  expect(await statusFor(validKey)).toBe(200);
  expect(await statusFor(validKey)).toBe(429);
  expect(await statusFor(otherValidKey)).toBe(200);
});

it('rateLimit counts anonymous calls by the client address that trusted proxies forward', async () => {
  const { send } = await startService({
    rateLimit: { calls: 1, windowMs: 60_000 },
    trustProxy: ['127.0.0.0/8'],
  });
  const statusFor = async (forwarded: string) =>
    (await send('/v1/open', { headers: { authorization: '', 'x-forwarded-for': forwarded } })).status;
  expect(await statusFor('203.0.113.1')).toBe(200);
  expect(await statusFor('198.51.100.7, 203.0.113.1')).toBe(429);
  expect(await statusFor('203.0.113.2')).toBe(200);
});

it.each<
  [key: (caller: { identity: { name: string } | undefined }) => string | undefined, statuses: number[]]
>([
  // Of Ada, of Bob, and of two anonymous calls from one address.
  [() => 'shared', [200, 429, 429, 429]],
  [() => '', [200, 429, 429, 429]],
  [({ identity }) => identity?.name, [200, 200, 200, 429]],
  // A key never equals a default one.
  [({ identity }) => identity && 'address 127.0.0.1', [200, 429, 200, 429]],
])('rateLimit.key %s chooses the bucket of a call, and undefined that by default', async (key, statuses) => {
  const { send } = await startService({ rateLimit: { calls: 1, windowMs: 60_000, key } });
  const statusFor = async (authorization: string) =>
    (await send('/v1/open', { headers: { authorization } })).status;
  const credentials = [validKey, otherValidKey, '', ''];
  const received: number[] = [];
  for (const each of credentials) received.push(await statusFor(each));
  expect(received).toEqual(statuses);
});

it('a call on an open WebSocket gets 500 if rateLimit.key throws', async () => {
  const key = vi.fn(() => 'plan');
  const { dial } = await startService({ rateLimit: { calls: 9, windowMs: 60_000, key } });
  const { call } = dial();
  const list = (id: number) => ({ id, method: 'query', params: { path: 'list' } });
  expect(await call(list(1))).toMatchObject({ result: { data: 0 } });
  key.mockImplementation(() => {
    throw new Error('no plan');
  });
  expect(await call(list(2))).toMatchObject({ error: { data: { code: 'INTERNAL_SERVER_ERROR' } } });
});

it('gateways with one state share a rate limit, apart from failedAttempts', async () => {
  const memory = memoryState();
  // Asynchronous, like a database.
  const state: State = { ...memory, take: async (...args) => memory.take(...args) };
  const key = () => '127.0.0.1';
  const shared = {
    state,
    rateLimit: { calls: 2, windowMs: 60_000, key },
    failedAttempts: { attempts: 2, windowMs: 60_000 },
  };
  const [one, other] = [await startService(shared), await startService(shared)];
  const invalid = { headers: { authorization: 'Bearer bad-key' } };
  expect((await one.send('/v1/list', invalid)).status).toBe(401);
  expect((await other.send('/v1/list', invalid)).status).toBe(401);
  expect((await one.send('/v1/list', invalid)).status).toBe(429);
  expect((await one.send('/v1/list')).status).toBe(200);
  expect((await other.send('/trpc/list')).status).toBe(200);
  expect((await one.send('/v1/list')).status).toBe(429);
});

it('rateLimit counts each message on a WebSocket, also one without a valid call, and each call of a batch', async () => {
  const { send, dial, records } = await startLimited(10, 600_000);
  const { call, closed } = dial();
  const list = (id: number) => ({ id, method: 'query', params: { path: 'list' } });
  expect(await call({ id: 1, method: 'query', params: { path: 'nope' } })).toMatchObject({
    error: { data: { code: 'NOT_FOUND' } },
  });
  expect(await call({ id: 2, method: 'mutation', params: { path: 'list' } })).toMatchObject({
    error: { data: { code: 'NOT_FOUND' } },
  });
  expect(await call({ params: 'none' })).toMatchObject({ id: null, error: {} });
  expect(await call(list(3))).toMatchObject({ result: { data: 0 } });
  await call([list(4), list(5), list(6)]);
  expect(policyOf(await send('/v1/list'))[1]).toContain('r=1;');
  expect(await call({ params: 'none' })).toMatchObject({ id: null });
  expect(await call(list(7))).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } });
  // Over the limit a valid call is answered, and an invalid message closes the socket: to answer it would cost the client nothing.
  call({ id: 8, method: 'query', params: { path: 'nope' } }).catch(() => {});
  expect((await closed)[0]).toBe(1013);
  const recorded = records.flatMap(({ method, status, operation }) =>
    method === 'WS' ? [`${status} ${operation}`] : [],
  );
  expect(recorded.join(', ')).toBe(
    '404 undefined, 404 undefined, 400 undefined, 200 list, ' +
      '200 list, 200 list, 200 list, 400 undefined, 429 list, 404 undefined',
  );
});

it('rateLimit counts the opening of a WebSocket whose key arrives in its first message', async () => {
  const { send, dial, records } = await startLimited(2);
  const waiting = ['/trpc?connectionParams=1', { authorization: '' }] as const;
  const parameters = { method: 'connectionParams', data: { authorization: validKey } };
  const first = dial(...waiting);
  first.call(parameters).catch(() => {});
  await expect.poll(async () => policyOf(await send('/v1/list'))[1]).toContain('r=0;');
  const { call, closed } = dial(...waiting);
  expect(await call(parameters)).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } });
  expect((await closed)[0]).toBe(1013);
  expect(records.at(-1)).toMatchObject({ method: 'WS', status: 429, limit: 'rate' });
});

/** The status, the calls that are left, the seconds to the next one, and `Retry-After`. */
const takenBy = async (response: Promise<Response>) => {
  const { headers, status } = await response;
  const [, left, next] = /r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return [status, Number(left), Number(next), headers.get('retry-after')];
};

it('rateLimit refills continuously: t is the seconds until one more call, and Retry-After until those of the request', async () => {
  const { send } = await startLimited(2, 20_000);
  const two = batchTarget('list', 2);
  expect(await takenBy(send('/v1/free'))).toEqual([200, 2, 0, null]);
  expect(await takenBy(send('/v1/list'))).toEqual([200, 1, 10, null]);
  expect(await takenBy(send(two))).toEqual([207, 0, 10, '10']);
  vi.advanceTimersByTime(3000);
  expect(await takenBy(send('/v1/list'))).toEqual([429, 0, 7, '7']);
  expect(await takenBy(send(two))).toEqual([429, 0, 7, '17']);
  vi.advanceTimersByTime(6001);
  // Less than a second is rounded up.
  expect(await takenBy(send('/v1/list'))).toEqual([429, 0, 1, '1']);
  vi.advanceTimersByTime(1000);
  expect(await takenBy(send('/v1/list'))).toEqual([200, 0, 10, null]);
});

it('rateLimit does not count calls that maxInFlight rejects with 503', async () => {
  const { send, counters } = await startService({
    maxInFlight: 1,
    rateLimit: { calls: 10, windowMs: 3_600_000 },
  });
  const running = send('/v1/slow?ms=300');
  await vi.waitFor(() => expect(counters.begun).toBe(1));
  expect((await send(batchTarget('list', 2))).status).toBe(503);
  expect((await running).headers.get('ratelimit')).toContain('r=9;');
  expect((await send('/v1/list')).headers.get('ratelimit')).toContain('r=8;');
});
