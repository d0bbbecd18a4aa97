import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { batch, key, otherKey, startEdge } from './startEdge.ts';

const limited = (requests: number, windowSeconds = 60) =>
  startEdge({ rateLimit: { requests, windowSeconds } });
const policyOf = ({ headers }: Response) => [headers.get('ratelimit-policy'), headers.get('ratelimit')];

describe('a rate limit', () => {
  it('is off unless it is asked for', async () => {
    const { send } = await startEdge();
    expect(policyOf(await send('/v1/list'))).toEqual([null, null]);
  });

  it('is told of on each answer, and is one for REST, tRPC, batches and WebSockets', async () => {
    const { send, dial, post } = await limited(10);
    expect(policyOf(await send('/v1/list'))).toEqual(['"default";q=10;w=60', '"default";r=9;t=6']);
    expect(policyOf(await send('/trpc/list'))).toEqual(['"default";q=10;w=60', '"default";r=8;t=12']);
    expect(policyOf(await post('/v1/write', '{'))[1]).toBe('"default";r=7;t=18');
    expect(policyOf(await send('/v1/nowhere'))[1]).toBe('"default";r=6;t=24');
    expect(policyOf(await send(batch('list', 3)))[1]).toBe('"default";r=3;t=42');
    // To open it is one, each call on it is another.
    const { call } = await dial();
    const list = { method: 'query', params: { path: 'list' } };
    expect(await call({ id: 1, ...list })).toMatchObject({ id: 1, result: { data: 0 } });
    expect(policyOf(await send('/v1/list'))[1]).toBe('"default";r=0;t=60');
    expect(await call({ id: 2, ...list })).toMatchObject({
      id: 2,
      error: {
        message: 'The rate limit is 10 calls in 60 s. Try again later.',
        data: { code: 'TOO_MANY_REQUESTS' },
      },
    });
  });

  it('answers what is beyond it 429 with Retry-After, in the body of the protocol', async () => {
    const { send, dial, records, seen } = await limited(2);
    await send(batch('list', 2));
    const message = 'The rate limit is 2 calls in 60 s. Try again later.';
    const rest = await send('/v1/slow');
    expect([rest.status, await rest.json()]).toEqual([
      429,
      { code: 'TOO_MANY_REQUESTS', message, status: 429 },
    ]);
    expect(policyOf(rest)).toEqual(['"default";q=2;w=60', '"default";r=0;t=60']);
    expect(rest.headers.get('retry-after')).toBe('30');
    const rpc = await send('/trpc/slow');
    expect([rpc.status, await rpc.json()]).toMatchObject([429, { error: { message } }]);
    expect(policyOf(rpc)).toEqual(['"default";q=2;w=60', '"default";r=0;t=60']);
    expect(rpc.headers.get('retry-after')).toBe('30');
    expect((await dial()).status).toBe(429);
    expect(seen.begun).toBe(0);
    expect(records.map(({ limit }) => limit)).toEqual([undefined, 'rate', 'rate', 'rate']);
  });

  it('takes all of a batch or nothing', async () => {
    const { send } = await limited(5);
    await send(batch('list', 3));
    expect((await send(batch('list', 3))).status).toBe(429);
    expect(policyOf(await send(batch('list', 2)))[1]).toContain('r=0;');
  });

  it('says so where a batch is more than it ever allows', async () => {
    const { send } = await limited(5);
    const response = await send(batch('list', 6));
    expect(response.status).toBe(429);
    expect(await response.text()).toContain(
      'A batch of 6 calls is more than the rate limit of 5 calls in 60 s',
    );
  });

  it('a batch of as many calls as a rate limit allows at most is answered 429 with "Try again later"', async () => {
    const { send } = await limited(5);
    await send('/trpc/list');
    const received = await send(batch('list', 5));
    expect([received.status, await received.text()]).toEqual([
      429,
      expect.stringContaining('The rate limit is 5 calls in 60 s. Try again later.'),
    ]);
  });

  it('fills up again as time goes by', async () => {
    const { send } = await limited(2, 1);
    await send(batch('list', 2));
    const refused = await send('/v1/list');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    await sleep(600);
    expect((await send('/v1/list')).status).toBe(200);
    expect((await send('/v1/list')).status).toBe(429);
  });

  it('is each key’s own, and no 401 is counted', async () => {
    const { send } = await limited(1);
    for (const authorization of ['', 'Bearer bad-key', 'Bearer']) {
      const response = await send('/v1/list', { headers: { authorization } });
      expect([response.status, ...policyOf(response)]).toEqual([401, null, null]);
    }
    const statusFor = async (authorization: string) =>
      (await send('/v1/list', { headers: { authorization } })).status;
    expect(await statusFor(key)).toBe(200);
    expect(await statusFor(key)).toBe(429);
    expect(await statusFor(otherKey)).toBe(200);
  });

  it('counts whoever needs no key by address, as the proxies that are trusted tell it', async () => {
    const { send } = await startEdge({
      rateLimit: { requests: 1, windowSeconds: 60 },
      trustProxy: ['127.0.0.0/8', '10.0.0.0/8'],
    });
    const statusFor = async (forwarded: string) =>
      (await send('/v1/open', { headers: { authorization: '', 'x-forwarded-for': forwarded } })).status;
    expect(await statusFor('203.0.113.1')).toBe(200);
    // What a client writes itself stands in front, and what proxies of ours wrote behind.
    expect(await statusFor('198.51.100.7, 203.0.113.1, 10.1.1.1')).toBe(429);
    expect(await statusFor('203.0.113.2')).toBe(200);
    // A customer has a /64 of IPv6 addresses.
    expect(await statusFor('2001:db8:1:2::1')).toBe(200);
    expect(await statusFor('2001:db8:1:2:ffff::9')).toBe(429);
    expect(await statusFor('2001:db8:1:3::1')).toBe(200);
  });

  it('believes no X-Forwarded-For of a stranger', async () => {
    const { send } = await limited(1);
    const statusFor = async (forwarded: string) =>
      (await send('/v1/open', { headers: { authorization: '', 'x-forwarded-for': forwarded } })).status;
    expect([await statusFor('203.0.113.1'), await statusFor('203.0.113.2')]).toEqual([200, 429]);
  });

  it('may be told what has a bucket of its own', async () => {
    const { send } = await startEdge({
      rateLimit: { requests: 1, windowSeconds: 60, key: () => 'everybody' },
    });
    expect((await send('/v1/list')).status).toBe(200);
    expect((await send('/v1/list', { headers: { authorization: otherKey } })).status).toBe(429);
  });

  it('counts each message of a socket, though no call comes of it, and a batch by its calls', async () => {
    const { send, dial, records } = await limited(10, 600);
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
    // A call is answered, and what is none ends the socket: it would cost nothing.
    call({ id: 8, method: 'query', params: { path: 'nope' } }).catch(() => {});
    expect(await closed).toBe(1013);
    const told = records.flatMap(({ method, status, operation }) =>
      method === 'WS' ? [`${status} ${operation}`] : [],
    );
    expect(told.join(', ')).toBe(
      '404 undefined, 404 undefined, 400 undefined, 200 list, ' +
        '200 list, 200 list, 200 list, 400 undefined, 429 list, 404 undefined',
    );
  });

  it('counts what opens a socket whose key comes with its first message', async () => {
    const { send, dial, records } = await limited(2);
    const waiting = ['/trpc?connectionParams=1', { authorization: '' }] as const;
    const parameters = { method: 'connectionParams', data: { authorization: key } };
    const first = await dial(...waiting);
    first.call(parameters).catch(() => {});
    await expect.poll(async () => policyOf(await send('/v1/list'))[1]).toContain('r=0;');
    const { call, closed } = await dial(...waiting);
    expect(await call(parameters)).toMatchObject({ error: { data: { code: 'TOO_MANY_REQUESTS' } } });
    expect(await closed).toBe(1013);
    expect(records.at(-1)).toMatchObject({ method: 'WS', status: 429, limit: 'rate' });
  });

  it('counts the calls of a socket whose key came with its first message', async () => {
    const { send, dial } = await limited(2);
    const { call } = await dial('/trpc?connectionParams=1', { authorization: '' });
    const list = (id: number) => ({ id, method: 'query', params: { path: 'list' } });
    const parameters = { method: 'connectionParams', data: { authorization: key } };
    // It is answered nothing.
    const first = call(parameters);
    const responses = [await Promise.all([first, call(list(1))]), await call(list(2)), await call(list(3))];
    expect(JSON.stringify(responses[2])).toContain('TOO_MANY_REQUESTS');
    expect((await send('/v1/list')).status).toBe(429);
  });

  it('takes nothing for calls that are answered 503 for load', async () => {
    const { send, seen } = await startEdge({
      maxInFlight: 2,
      rateLimit: { requests: 10, windowSeconds: 3600 },
    });
    const running = send('/v1/slow?ms=300');
    await vi.waitFor(() => expect(seen.begun).toBe(1));
    expect((await send(batch('list', 2))).status).toBe(503);
    expect((await running).headers.get('ratelimit')).toContain('r=9;');
    expect((await send('/v1/list')).headers.get('ratelimit')).toContain('r=8;');
  });

  it.each([
    ['requests', 0],
    ['requests', 1.5],
    ['windowSeconds', -1],
  ])('refuses to start with %s of %d', async (name, value) => {
    const rateLimit = { requests: 1, windowSeconds: 1, [name]: value };
    await expect(startEdge({ rateLimit })).rejects.toThrow(
      `rateLimit.${name} is ${value}; it must be a positive integer.`,
    );
  });

  it('refuses to start with a proxy that is no address', async () => {
    await expect(startEdge({ trustProxy: ['10.0.0.0/99'] })).rejects.toThrow(
      'trustProxy names "10.0.0.0/99"',
    );
  });
});
