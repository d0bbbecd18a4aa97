import { setTimeout as sleep } from 'node:timers/promises';
import { httpSubscriptionLink, createTRPCClient } from '@trpc/client';
import { TRPCError } from '@trpc/server';
import { EventSource } from 'eventsource';
import { describe, expect, it, vi } from 'vitest';
import { batchTarget, validKey, nestedJson, startEdge } from './startEdge.ts';
import { bearer } from 'trpc-gateway';

const until = (check: () => void) => vi.waitFor(check, { timeout: 5000, interval: 5 });
const statusAndBody = async (response: Response) => [response.status, await response.json()] as const;

describe('parameters of queries', () => {
  const tags = (count: number) => Array(count).fill('tag=x').join('&');

  it('a query can have 1000 parameters over both protocols, and the 400 for more names the limit', async () => {
    const { send, records } = await startEdge();
    expect(await (await send(`/v1/list?${tags(1000)}`)).json()).toBe(1000);
    const message = 'The query has more than 1000 parameters.';
    expect(await statusAndBody(await send(`/v1/list?${tags(1001)}`))).toEqual([
      400,
      { code: 'BAD_REQUEST', message, status: 400 },
    ]);
    expect(await statusAndBody(await send(`/trpc/list?${tags(1001)}`))).toMatchObject([
      400,
      { error: { message, data: { code: 'BAD_REQUEST' } } },
    ]);
    expect(records.map(({ limit }) => limit)).toEqual([undefined, 'query-parameters', 'query-parameters']);
  });

  it.each(['/v1/list', '/trpc/list'])('empty parameters of %s count too', async (target) => {
    const { send } = await startEdge();
    const statusOf = async (count: number) => (await send(`${target}?${'&'.repeat(count - 1)}`)).status;
    expect([await statusOf(1000), await statusOf(1001)]).toEqual([200, 400]);
  });
});

describe('fields of forms', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  it('a form can have 1000 fields, and the 400 for more names the form', async () => {
    const { post, records } = await startEdge();
    const tags = 'tag=x&'.repeat(998);
    expect(await (await post('/v1/form', `${tags}tag=y&tag=`, form)).json()).toBe(1000);
    // Unknown fields and fields without a name count too.
    expect(await statusAndBody(await post('/v1/form', `${tags}&&`, form))).toEqual([
      400,
      { code: 'BAD_REQUEST', message: 'The form has more than 1000 parameters.', status: 400 },
    ]);
    expect((await post('/v1/form', { tag: ['a&'.repeat(2000), '&', '', ''] })).status).toBe(200);
    expect(records.map(({ limit }) => limit)).toEqual([undefined, 'query-parameters', undefined]);
  });
});

describe('maxBatchSize', () => {
  it('a batch can have 100 calls by default, and one with more is rejected with 400', async () => {
    const { send, records } = await startEdge();
    expect((await send(batchTarget('list', 100))).status).toBe(200);
    expect(await statusAndBody(await send(batchTarget('list', 101)))).toMatchObject([
      400,
      { error: { message: 'Batch call exceeds maximum size' } },
    ]);
    expect(records.map(({ limit }) => limit)).toEqual([undefined, 'batch-size']);
  });

  it('a batch can have at most maxInFlight calls, also if maxBatchSize is more', async () => {
    const { send } = await startEdge({ maxInFlight: 2, trpc: { maxBatchSize: 5 } });
    expect((await send(batchTarget('list', 2))).status).toBe(200);
    expect((await send(batchTarget('list', 3))).status).toBe(400);
  });

  it('a batch is counted also if its commas and its parameter are percent-encoded', async () => {
    const { send } = await startEdge({
      trpc: { maxBatchSize: 2 },
      rateLimit: { calls: 5, windowSeconds: 60 },
    });
    const response = await send('/trpc/list%2Clist?b%61tch=1');
    expect(response.status).toBe(200);
    expect(response.headers.get('ratelimit')).toContain('r=3;');
  });
});

describe('nested inputs', () => {
  const message = 'The input is nested deeper than 100 levels.';
  const bodies = [
    ['REST', '/v1/write', (depth: number) => `{"value":${nestedJson(depth - 1)}}`],
    ['tRPC', '/trpc/write', (depth: number) => `{"value":${nestedJson(depth - 1)}}`],
    ['a tRPC batch', '/trpc/write?batch=1', (depth: number) => `{"0":{"value":${nestedJson(depth - 1)}}}`],
  ] as const;

  it.each(bodies)(
    'an input over %s can be nested 100 levels deep by default, and a deeper one is rejected with 400',
    async (_protocol, target, body) => {
      const { post, records } = await startEdge();
      expect((await post(target, body(100))).status).toBe(200);
      for (const depth of [101, 50_000]) {
        const rejected = await post(target, body(depth));
        expect([rejected.status, await rejected.text()]).toEqual([400, expect.stringContaining(message)]);
      }
      expect(records.map(({ limit }) => limit)).toEqual([undefined, 'json-depth', 'json-depth']);
    },
  );

  it.each([
    ['REST', '/v1/write', (value: string) => `{"value":${value}}`],
    ['tRPC', '/trpc/write', (value: string) => `{"value":${value}}`],
    [
      'a tRPC batch',
      '/trpc/write,write?batch=1',
      (value: string) => `{"0":{"value":1},"1":{"value":${value}}}`,
    ],
  ])(
    'an input over %s can have 65,536 arrays and objects by default, and one with more is rejected with 400',
    async (protocol, target, body) => {
      const { post, records } = await startEdge();
      const list = (length: number) => body(JSON.stringify(Array.from({ length }, () => [])));
      const most = protocol === 'a tRPC batch' ? 65_533 : 65_534;
      expect((await post(target, list(most))).status).toBe(200);
      const rejected = await post(target, list(most + 1));
      expect([rejected.status, await rejected.text()]).toEqual([
        400,
        expect.stringContaining('The input has more than 65536 arrays and objects'),
      ]);
      expect(records.map(({ limit }) => limit)).toEqual([undefined, 'json-containers']);
    },
  );

  it('the depth of inputs in a query string is limited', async () => {
    const { send } = await startEdge();
    expect(await (await send(`/trpc/list?input=${nestedJson(101)}`)).text()).toContain(
      'deeper than 100 levels',
    );
    expect(await (await send(`/trpc/list?input=${nestedJson(100)}`)).text()).not.toContain('deeper');
  });

  it('the depth of messages on a WebSocket is limited, and each one over it is answered with an error', async () => {
    const { dial } = await startEdge();
    const { call } = await dial();
    const write = (id: number, value: string) =>
      call({ id, method: 'mutation', params: { path: 'write', input: { value: JSON.parse(value) } } });
    expect(await write(1, nestedJson(99))).toMatchObject({ id: 1, result: { data: 'written' } });
    expect(await write(2, nestedJson(100))).toMatchObject({
      id: 2,
      error: { message: 'The input is nested deeper than 100 levels.', data: { httpStatus: 400 } },
    });
    const input = { ms: JSON.parse(nestedJson(100)) as unknown };
    expect(await call({ id: 3, method: 'subscription', params: { path: 'lateTicks', input } })).toMatchObject(
      {
        id: 3,
        error: { message: 'The input is nested deeper than 100 levels.', data: { httpStatus: 400 } },
      },
    );
  });

  it('the depth does not apply to properties that the input schema drops', async () => {
    const { post } = await startEdge();
    expect((await post('/v1/write', `{"value":1,"other":${nestedJson(5000)}}`)).status).toBe(200);
  });
});

describe('maxInFlight', () => {
  it('maxInFlight answers a call over the limit with 503 and Retry-After at once, over every protocol', async () => {
    const { send, dial, records, gateway, counters } = await startEdge({ maxInFlight: 2 });
    const { call } = await dial();
    const running = [send('/v1/slow?ms=1500'), send('/trpc/slow?input={"ms":1500}')];
    await until(() => expect(counters.begun).toBe(2));
    expect(gateway.callsInFlight()).toBe(2);

    const begun = performance.now();
    const message = 'The server is at its limit of 2 concurrent calls. Try again later.';
    const rest = await send('/v1/list');
    expect(rest.headers.get('retry-after')).toBe('1');
    expect(await statusAndBody(rest)).toEqual([503, { code: 'SERVICE_UNAVAILABLE', message, status: 503 }]);
    const rpc = await send('/trpc/list');
    expect(rpc.headers.get('retry-after')).toBe('1');
    expect(await statusAndBody(rpc)).toMatchObject([503, { error: { message, data: { httpStatus: 503 } } }]);
    expect((await send('/v1/ticks')).status).toBe(503);
    expect(await call({ id: 1, method: 'query', params: { path: 'list' } })).toMatchObject({
      id: 1,
      error: { message },
    });
    expect((await dial()).status).toBe(503);
    expect(performance.now() - begun).toBeLessThan(1000);

    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect(gateway.callsInFlight()).toBe(0);
    expect((await send('/v1/list')).status).toBe(200);
    expect(records.filter(({ limit }) => limit === 'in-flight')).toHaveLength(5);
    expect(records.every((record) => record.error === undefined)).toBe(true);
  });

  it('maxInFlight counts each call of a batch', async () => {
    const { send, counters } = await startEdge({ maxInFlight: 4 });
    const running = send('/trpc/slow,slow,slow?batch=1&input={"0":{"ms":200},"1":{"ms":200},"2":{"ms":200}}');
    await until(() => expect(counters.begun).toBe(3));
    expect((await send(batchTarget('list', 2))).status).toBe(503);
    expect((await send(batchTarget('list', 1))).status).toBe(200);
    expect((await running).status).toBe(200);
  });

  it('maxInFlight does not count streams and subscriptions that have started', async () => {
    const { send } = await startEdge({ maxInFlight: 1 });
    const streams = [await send('/v1/drip'), await send('/v1/ticks'), await send('/trpc/ticks')];
    expect((await send('/v1/list')).status).toBe(200);
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const stream of streams) await stream.body?.cancel();
  });

  it('maxInFlight does not count a call after its client has disconnected', async () => {
    const { send, gateway, counters } = await startEdge({ maxInFlight: 1 });
    const leaving = new AbortController();
    const abandoned = send('/v1/slow?ms=5000', { signal: leaving.signal });
    await until(() => expect(counters.begun).toBe(1));
    leaving.abort();
    await expect(abandoned).rejects.toThrow(/abort/i);
    await until(() => expect(gateway.callsInFlight()).toBe(0));
  });
});

describe('callTimeoutMs', () => {
  const message = 'The call timed out after 100 ms. Whether it had an effect is unknown.';

  it.each([
    ['REST', '/v1/slow?ms=5000', { code: 'GATEWAY_TIMEOUT', message, status: 504 }],
    [
      'tRPC',
      '/trpc/slow?input={"ms":5000}',
      {
        error: expect.objectContaining({
          message,
          data: expect.objectContaining({ code: 'GATEWAY_TIMEOUT' }),
        }),
      },
    ],
  ])(
    'a call over callTimeoutMs is answered with 504 over %s, and its signal aborts',
    async (_protocol, target, body) => {
      const { send, records, gateway, counters } = await startEdge({ callTimeoutMs: 100 });
      const begun = performance.now();
      expect(await statusAndBody(await send(target))).toEqual([504, body]);
      expect(performance.now() - begun).toBeLessThan(1000);
      expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
      expect(gateway.callsInFlight()).toBe(0);
      expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
    },
  );

  it('a call over callTimeoutMs is answered with 504 also if its procedure ignores the signal', async () => {
    const { send } = await startEdge({ callTimeoutMs: 100 });
    expect((await send('/v1/stubborn?ms=600')).status).toBe(504);
  });

  it('a call over callTimeoutMs ends with an error on a WebSocket', async () => {
    const { dial, counters } = await startEdge({ callTimeoutMs: 100 });
    const { call } = await dial();
    expect(
      await call({ id: 1, method: 'query', params: { path: 'slow', input: { ms: 5000 } } }),
    ).toMatchObject({ id: 1, error: { message, data: { httpStatus: 504 } } });
    expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
  });

  it('a call over callTimeoutMs fails alone in its batch', async () => {
    const { send } = await startEdge({ callTimeoutMs: 100 });
    const response = await send('/trpc/list,slow?batch=1&input={"1":{"ms":5000}}');
    expect(await statusAndBody(response)).toMatchObject([
      207,
      [{ result: { data: 0 } }, { error: { data: { httpStatus: 504 } } }],
    ]);
  });

  it('a call over callTimeoutMs is aborted in a JSON Lines response, which continues', async () => {
    const { send, counters } = await startEdge({ callTimeoutMs: 100 });
    const response = await send('/trpc/list,slow?batch=1&input={"1":{"ms":5000}}', {
      headers: { 'trpc-accept': 'application/jsonl' },
    });
    expect(await response.text()).toContain('"error"');
    expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
  });

  it('callTimeoutMs starts with each call', async () => {
    const { send } = await startEdge({ callTimeoutMs: 300 });
    const first = send('/v1/slow?ms=5000');
    await sleep(150);
    const begun = performance.now();
    const second = await send('/v1/slow?ms=5000');
    expect(second.status).toBe(504);
    expect(performance.now() - begun).toBeGreaterThan(250);
    expect((await first).status).toBe(504);
  });

  it('callTimeoutMs does not end streams and subscriptions that have started', async () => {
    const { send, server } = await startEdge({ callTimeoutMs: 100 });
    expect(await (await send('/v1/drip')).text()).toBe('.....');
    const events = await (await send('/v1/ticks')).text();
    expect(events).toContain('data: 5\n');
    expect(events).toContain('event: end');

    const trpc = createTRPCClient({
      links: [
        httpSubscriptionLink({
          url: `${server.origin}/trpc`,
          EventSource,
          eventSourceOptions: { fetch: server.fetch },
          connectionParams: { authorization: validKey },
        }),
      ],
    });
    const received: unknown[] = [];
    await new Promise<void>((resolve, reject) => {
      // This file does not have the router's type.
      const { ticks } = trpc as unknown as Record<
        'ticks',
        { subscribe(input: undefined, handlers: object): unknown }
      >;
      ticks.subscribe(undefined, {
        onData: (data: unknown) => received.push(data),
        onComplete: resolve,
        onError: reject,
      });
    });
    expect(received).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('Retry-After', () => {
  const statusAndRetryAfter = async (target: string, headers: Record<string, string> = {}) => {
    const { send } = await startEdge({ rateLimit: { calls: 5, windowSeconds: 60 } });
    const response = await send(target, { headers });
    await response.text();
    return [response.status, response.headers.get('retry-after')];
  };

  it.each([
    ['/v1/teapot', 503, '1'],
    ['/trpc/teapot', 503, '1'],
    ['/trpc/%74eapot', 503, '1'],
    ['/trpc/teapot,teapot?batch=1', 503, '1'],
    ['/trpc/list,teapot?batch=1', 207, '1'],
    ['/trpc/list,%74eapot?batch=1', 207, '1'],
    ['/trpc/list,broken?batch=1', 207, null],
    ['/trpc/busy?input=7', 503, '7'],
    ['/trpc/busy,busy,busy?batch=1&input={"0":3,"1":7,"2":5}', 503, '7'],
    ['/trpc/teapot,busy?batch=1&input={"1":7}', 503, '7'],
    ['/trpc/list,list,list,list,list,list?batch=1', 429, '1'],
  ])('GET %s, where a call fails, is answered with %i and Retry-After: %s', async (target, ...expected) => {
    expect(await statusAndRetryAfter(target)).toEqual(expected);
  });

  it('a SERVICE_UNAVAILABLE that verify throws is answered with 503 and Retry-After over both protocols', async () => {
    const { send } = await startEdge({
      authentication: bearer({
        verify() {
          throw new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'The keys cannot be read.' });
        },
      }),
    });
    const responses = [await send('/v1/list'), await send('/trpc/list')];
    expect(responses.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [503, '1'],
      [503, '1'],
    ]);
  });
});

it.each(['maxInFlight', 'callTimeoutMs', 'maxBodyBytes', 'maxResponseBytes'])(
  'createGateway rejects the option %s: 0',
  async (name) => {
    await expect(startEdge({ [name]: 0 })).rejects.toThrow(`${name} is 0; it must be a positive number`);
  },
);
