import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { call, startLibrary } from './startLibrary.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 5000, interval: 5 });
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const parameters = (data: unknown) => ({ method: 'connectionParams', data });
const waiting = '/trpc?connectionParams=1';

describe('the credential of a WebSocket', () => {
  it('comes with the request that opens it, and names the caller', async () => {
    const { dial } = await startLibrary();
    const client = dial('/trpc', bearer('other-key'));
    client.send(call(1, 'query', 'caller'));
    await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Bob' } }]));
  });

  it.each<[what: string, options: object]>([
    ['without one', {}],
    ['with a bad one', bearer('bad')],
    ['with one of another scheme', { headers: { authorization: 'Basic good-key' } }],
  ])('%s no socket is opened: 401', async (_what, options) => {
    const { dial, exchanges } = await startLibrary();
    const [status, body] = await dial('/trpc', options).closed;
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({ error: { data: { code: 'UNAUTHORIZED' } } });
    expect(exchanges).toMatchObject([{ method: 'GET', path: '/trpc', face: 'rpc', status: 401 }]);
  });

  it('that is bad in the header is refused, whatever the first message would say', async () => {
    const { dial } = await startLibrary();
    expect((await dial(waiting, bearer('bad')).closed)[0]).toBe(401);
  });

  it.each(['authorization', 'Authorization'])(
    'may be %s in the connection parameters, where the URL says that they come',
    async (name) => {
      const { dial, exchanges } = await startLibrary();
      const client = dial(waiting, {});
      client.send(parameters({ [name]: 'Bearer other-key' }));
      client.send(call(1, 'query', 'caller'));
      await until(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 'Bob' } }]));
      expect(JSON.stringify(exchanges)).not.toContain('other-key');
    },
  );

  it.each<[what: string, data: unknown]>([
    ['a bad one', { authorization: 'Bearer bad' }],
    ['none', {}],
    ['null', null],
    ['another shape', { authorization: 5 }],
  ])('in connection parameters with %s is answered with the error, then closed', async (_what, data) => {
    const { dial } = await startLibrary();
    const client = dial(waiting, {});
    client.send(parameters(data));
    client.send(call(1, 'query', 'caller'));
    const [code] = await client.closed;
    expect(code).toBe(
      typeof data === 'object' && data && 'authorization' in data && data.authorization === 5 ? 1005 : 1008,
    );
    expect(JSON.stringify(client.messages)).not.toContain('"result"');
    expect(client.messages[0]).toMatchObject({ id: null, error: {} });
  });

  it('that does not come in time closes the socket', async () => {
    const { dial } = await startLibrary({ credentialDeadlineMs: 50 });
    expect(await dial(waiting, {}).closed).toEqual([1008, 'No credential came in time.']);
  });

  it('is waited for on so many sockets and no more: 503, until one of them has sent it', async () => {
    const { dial } = await startLibrary({ maxWaiting: 1 });
    const first = dial(waiting, {});
    await until(() => expect(first.socket.readyState).toBe(1));
    const [status, body] = await dial(waiting, {}).closed;
    expect([status, JSON.parse(body)]).toMatchObject([
      503,
      { error: { data: { code: 'SERVICE_UNAVAILABLE' } } },
    ]);
    first.send(parameters({ authorization: 'Bearer good-key' }));
    first.send(call(1, 'query', 'caller'));
    await until(() => expect(first.messages).toHaveLength(1));
    const third = dial(waiting, {});
    await until(() => expect(third.socket.readyState).toBe(1));
    third.socket.terminate();
    await until(() => expect(third.socket.readyState).toBe(3));
    await sleep(20);
    const fourth = dial(waiting, {});
    await until(() => expect(fourth.socket.readyState).toBe(1));
  });
});

describe('the credential of an EventSource', () => {
  it('may be in the connection parameters of a subscription, and of nothing else', async () => {
    const { http } = await startLibrary();
    const query = `connectionParams=${encodeURIComponent('{"authorization":"Bearer good-key"}')}`;
    const stopping = new AbortController();
    const accept = { accept: 'text/event-stream' };
    const stream = await fetch(`${http}/trpc/ticks?${query}`, { headers: accept, signal: stopping.signal });
    expect(stream.status).toBe(200);
    stopping.abort();
    expect((await fetch(`${http}/trpc/caller?${query}`)).status).toBe(401);
    const bad = query.replace('good', 'bad');
    expect((await fetch(`${http}/trpc/ticks?${bad}`, { headers: accept })).status).toBe(401);
  });
});

describe('a credential that is revoked', () => {
  it('ends its sockets with 1008, its streams after an event, and no one else’s', async () => {
    const { dial, http, keys, listening, work } = await startLibrary();
    const mine = dial();
    const byParameters = dial(waiting, {});
    byParameters.send(parameters({ authorization: 'Bearer good-key' }));
    const others = dial('/trpc', bearer('other-key'));
    for (const client of [mine, byParameters, others]) client.send(call(1, 'subscription', 'silence'));
    const streams = await Promise.all(
      [`/trpc/ticks`, '/v1/ticks'].map((path) => fetch(`${http}${path}`, bearer('good-key'))),
    );
    const lines = await fetch(`${http}/trpc/slow?batch=1&input=${encodeURIComponent('{"0":60000}')}`, {
      headers: { authorization: 'Bearer good-key', 'trpc-accept': 'application/jsonl' },
    });
    await until(() => expect(listening.inFlight()).toBe(6));
    keys.delete('good-key');
    const started = performance.now();
    const reason = 'The credential is not valid any more.';
    expect(await Promise.all([mine.closed, byParameters.closed])).toEqual([
      [1008, reason],
      [1008, reason],
    ]);
    for (const stream of streams) expect(await stream.text()).toMatch(/data: \d+\n\n+$/);
    await lines.text();
    expect(performance.now() - started).toBeLessThan(3000);
    expect(others.socket.readyState).toBe(1);
    await until(() => expect(listening.inFlight()).toBe(1));
    expect(work.aborted).toContain('query');
  });
});
