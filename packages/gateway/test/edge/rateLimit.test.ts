import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { batchTarget, validKey, otherValidKey, startEdge } from './startEdge.ts';

const startLimited = (calls: number, windowSeconds = 60) =>
  startEdge({ rateLimit: { calls, windowSeconds } });
const policyOf = ({ headers }: Response) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

describe('rateLimit', () => {
  it('responses have no RateLimit headers without rateLimit', async () => {
    const { send } = await startEdge();
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
    const { call } = await dial();
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
    const { send, dial } = await startLimited(20, 3600);
    const left = async (target: string) => policyOf(await send(target))[1]?.split(';')[1];
    expect(await left('/v1/costly')).toBe('r=17');
    expect(await left('/trpc/costly')).toBe('r=14');
    expect(await left('/trpc/costly,list,costly?batch=1')).toBe('r=7');
    const { call } = await dial();
    expect(await call({ id: 1, method: 'query', params: { path: 'costly' } })).toMatchObject({
      id: 1,
      result: { data: 3 },
    });
    expect(await left('/v1/list')).toBe('r=2');
    // More than is left.
    expect((await send('/v1/costly')).status).toBe(429);
    expect((await send('/v1/list')).status).toBe(200);
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
    expect((await dial()).status).toBe(429);
    expect(counters.begun).toBe(0);
    expect(records.map(({ limit }) => limit)).toEqual([undefined, 'rate', 'rate', 'rate']);
  });

  it('a batch that does not fit into rateLimit is rejected with 429 and counts nothing', async () => {
    const { send } = await startLimited(5);
    await send(batchTarget('list', 3));
    expect((await send(batchTarget('list', 3))).status).toBe(429);
    expect(policyOf(await send(batchTarget('list', 2)))[1]).toContain('r=0;');
  });

  it('a batch of more calls than rateLimit.calls is rejected with 429, and the message says so', async () => {
    const { send } = await startLimited(5);
    const response = await send(batchTarget('list', 6));
    expect(response.status).toBe(429);
    expect(await response.text()).toContain(
      'The request counts as 6 calls, but the rate limit is 5 calls in 60 s',
    );
  });

  it('a batch of rateLimit.calls calls that does not fit now is answered with 429 and "Try again later"', async () => {
    const { send } = await startLimited(5);
    await send('/trpc/list');
    const received = await send(batchTarget('list', 5));
    expect([received.status, await received.text()]).toEqual([
      429,
      expect.stringContaining('The rate limit of 5 calls in 60 s is exceeded. Try again later.'),
    ]);
  });

  it('rateLimit refills continuously', async () => {
    const { send } = await startLimited(2, 1);
    await send(batchTarget('list', 2));
    const rejected = await send('/v1/list');
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([429, '1']);
    await sleep(600);
    expect((await send('/v1/list')).status).toBe(200);
    expect((await send('/v1/list')).status).toBe(429);
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
    const { send } = await startEdge({
      rateLimit: { calls: 1, windowSeconds: 60 },
      trustProxy: ['127.0.0.0/8', '10.0.0.0/8'],
    });
    const statusFor = async (forwarded: string) =>
      (await send('/v1/open', { headers: { authorization: '', 'x-forwarded-for': forwarded } })).status;
    expect(await statusFor('203.0.113.1')).toBe(200);
    // A client can only add addresses in front of those that the trusted proxies append.
    expect(await statusFor('198.51.100.7, 203.0.113.1, 10.1.1.1')).toBe(429);
    expect(await statusFor('203.0.113.2')).toBe(200);
    // Providers assign a /64 of IPv6 addresses to one customer.
    expect(await statusFor('2001:db8:1:2::1')).toBe(200);
    expect(await statusFor('2001:db8:1:2:ffff::9')).toBe(429);
    expect(await statusFor('2001:db8:1:3::1')).toBe(200);
  });

  it('rateLimit ignores an X-Forwarded-For that does not come from a trusted proxy', async () => {
    const { send } = await startLimited(1);
    const statusFor = async (forwarded: string) =>
      (await send('/v1/open', { headers: { authorization: '', 'x-forwarded-for': forwarded } })).status;
    expect([await statusFor('203.0.113.1'), await statusFor('203.0.113.2')]).toEqual([200, 429]);
  });

  it('rateLimit.key chooses the bucket of a call', async () => {
    const { send } = await startEdge({
      rateLimit: { calls: 1, windowSeconds: 60, key: () => 'shared' },
    });
    expect((await send('/v1/list')).status).toBe(200);
    expect((await send('/v1/list', { headers: { authorization: otherValidKey } })).status).toBe(429);
  });

  it('rateLimit counts each message on a WebSocket, also one without a valid call, and each call of a batch', async () => {
    const { send, dial, records } = await startLimited(10, 600);
    const { call, closed } = await dial();
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
    expect(await closed).toBe(1013);
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
    const first = await dial(...waiting);
    first.call(parameters).catch(() => {});
    await expect.poll(async () => policyOf(await send('/v1/list'))[1]).toContain('r=0;');
    const { call, closed } = await dial(...waiting);
    expect(await call(parameters)).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } });
    expect(await closed).toBe(1013);
    expect(records.at(-1)).toMatchObject({ method: 'WS', status: 429, limit: 'rate' });
  });

  it('rateLimit counts the calls on a WebSocket whose key arrived in its first message', async () => {
    const { send, dial } = await startLimited(2);
    const { call } = await dial('/trpc?connectionParams=1', { authorization: '' });
    const list = (id: number) => ({ id, method: 'query', params: { path: 'list' } });
    const parameters = { method: 'connectionParams', data: { authorization: validKey } };
    // The server does not answer connection parameters.
    const first = call(parameters);
    const responses = [await Promise.all([first, call(list(1))]), await call(list(2)), await call(list(3))];
    expect(JSON.stringify(responses[2])).toContain('TOO_MANY_REQUESTS');
    expect((await send('/v1/list')).status).toBe(429);
  });

  it('rateLimit does not count calls that maxInFlight rejects with 503', async () => {
    const { send, counters } = await startEdge({
      maxInFlight: 2,
      rateLimit: { calls: 10, windowSeconds: 3600 },
    });
    const running = send('/v1/slow?ms=300');
    await vi.waitFor(() => expect(counters.begun).toBe(1));
    expect((await send(batchTarget('list', 2))).status).toBe(503);
    expect((await running).headers.get('ratelimit')).toContain('r=9;');
    expect((await send('/v1/list')).headers.get('ratelimit')).toContain('r=8;');
  });

  it.each([
    ['calls', 0],
    ['calls', 1.5],
    ['windowSeconds', -1],
  ])('createGateway rejects rateLimit.%s: %d', async (name, value) => {
    const rateLimit = { calls: 1, windowSeconds: 1, [name]: value };
    await expect(startEdge({ rateLimit })).rejects.toThrow(
      `rateLimit.${name} is ${value}; it must be a positive integer.`,
    );
  });

  it('createGateway rejects an invalid address range in trustProxy', async () => {
    await expect(startEdge({ trustProxy: ['10.0.0.0/99'] })).rejects.toThrow(
      'trustProxy contains "10.0.0.0/99"',
    );
  });
});
