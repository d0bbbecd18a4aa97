import { createTRPCUntypedClient, httpBatchLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { expect, it, vi } from 'vitest';
import { needs } from '../servers.ts';
import { batchTarget, nestedJson, startService, validKey } from '../startService.ts';

const until = (check: () => void) => vi.waitFor(check, { interval: 5 });
const statusAndBody = async (response: Response) => [response.status, await response.json()] as const;

const form = { 'content-type': 'application/x-www-form-urlencoded' };

it('a form can have 1000 fields, and the 400 for more names the form', async () => {
  const { post, records } = await startService();
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

it('a batch whose URL is too long is an error of each of its calls', async () => {
  needs('a port');
  const { fetch, origin } = (await startService()).server;
  const link = httpBatchLink({ url: `${origin}/trpc`, fetch, headers: { authorization: validKey } });
  const client = createTRPCUntypedClient({ links: [link] });
  const calls = Array.from({ length: 4000 }, async () => client.query('list'));
  const data = expect.objectContaining({ code: 'URI_TOO_LONG', httpStatus: 414 }) as unknown;
  const reason = expect.objectContaining({
    message: expect.stringContaining('16384 bytes'),
    data,
  }) as unknown;
  expect(await Promise.allSettled(calls)).toEqual(calls.map(() => ({ status: 'rejected', reason })));
});

it('a batch that takes long is served in slices, between which other calls run, and ends with its client', async () => {
  const t = initTRPC.create();
  let begun = 0;
  const busy = t.procedure.query(() => {
    begun += 1;
    for (const end = process.cpuUsage().user + 1000; process.cpuUsage().user < end;);
  });
  const { fetch } = await createGateway({
    router: t.router({ busy, quick: t.procedure.query(() => begun) }),
    createContext: () => ({}),
    document: { title: 'Slices', version: '0.0.0' },
  });
  const send = (target: string, init?: RequestInit) => fetch(new Request(`http://x${target}`, init));
  const leaving = new AbortController();
  const abandoned = send(batchTarget('busy', 500), { signal: leaving.signal });
  const { status } = await send('/trpc/quick');
  const before = begun;
  expect([status, before < 500]).toEqual([200, true]);
  leaving.abort();
  await Promise.allSettled([abandoned]);
  expect((await send(batchTarget('busy', 300))).status).toBe(200);
  expect(begun).toBe(before + 300);
});

it('a batch is counted also if its commas and its parameter are percent-encoded', async () => {
  const { send } = await startService({
    trpc: { maxBatchSize: 2 },
    rateLimit: { calls: 5, windowMs: 60_000 },
  });
  const response = await send('/trpc/list%2Clist?b%61tch=1');
  expect(response.status).toBe(200);
  expect(response.headers.get('ratelimit')).toContain('r=3;');
});

it('the depth of messages on a WebSocket is limited, and each one over it is answered with an error', async () => {
  const { dial } = await startService();
  const { call } = dial();
  const write = (id: number, value: string) =>
    call({ id, method: 'mutation', params: { path: 'write', input: { value: JSON.parse(value) } } });
  expect(await write(1, nestedJson(99))).toMatchObject({ id: 1, result: { data: 'written' } });
  expect(await write(2, nestedJson(100))).toMatchObject({
    id: 2,
    error: { message: 'The input is nested deeper than 100 levels.', data: { httpStatus: 400 } },
  });
  const input = { ms: JSON.parse(nestedJson(100)) as unknown };
  expect(await call({ id: 3, method: 'subscription', params: { path: 'lateTicks', input } })).toMatchObject({
    id: 3,
    error: { message: 'The input is nested deeper than 100 levels.', data: { httpStatus: 400 } },
  });
});

it('the depth does not apply to properties that the input schema drops', async () => {
  const { post } = await startService();
  expect((await post('/v1/write', `{"value":1,"other":${nestedJson(5000)}}`)).status).toBe(200);
});

it('maxInFlight answers a call over the limit with 503 and Retry-After at once, over every protocol', async () => {
  const { send, dial, records, gateway, counters } = await startService({ maxInFlight: 2 });
  const socket = dial();
  // An upgrade takes a place too.
  expect(await socket.status).toBe(101);
  const running = [send('/v1/slow?ms=1500'), send('/trpc/slow?input={"ms":1500}')];
  await until(() => expect(counters.begun).toBe(2));
  expect(gateway.callsInFlight()).toBe(2);

  const message = 'The server is at its limit of 2 concurrent calls. Try again later.';
  const rest = await send('/v1/list');
  expect(rest.headers.get('retry-after')).toBe('1');
  expect(await statusAndBody(rest)).toEqual([503, { code: 'SERVICE_UNAVAILABLE', message, status: 503 }]);
  const rpc = await send('/trpc/list');
  expect(rpc.headers.get('retry-after')).toBe('1');
  expect(await statusAndBody(rpc)).toMatchObject([503, { error: { message, data: { httpStatus: 503 } } }]);
  expect((await send('/v1/ticks')).status).toBe(503);
  // An EventSource connects again after the end of a stream, and after no other status.
  for (const path of ['/v1/ticks', '/trpc/ticks']) {
    const events = await send(path, { headers: { accept: 'text/event-stream' } });
    expect([events.status, events.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await events.text()).toMatch(
      /^retry: [12]\d{3}\nevent: (serialized-)?error\ndata: \{.*concurrent calls.*\}\n\n/,
    );
  }
  expect(await socket.call({ id: 1, method: 'query', params: { path: 'list' } })).toMatchObject({
    id: 1,
    error: { message },
  });
  expect(await dial().status).toBe(503);
  expect(gateway.callsInFlight()).toBe(2);

  expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  expect(gateway.callsInFlight()).toBe(0);
  expect((await send('/v1/list')).status).toBe(200);
  expect(records.filter(({ limit }) => limit === 'in-flight')).toHaveLength(7);
  expect(records.every((record) => record.error === undefined)).toBe(true);
});

it('maxInFlight counts each call of a batch: those that find no place are answered with 503', async () => {
  const { send, counters } = await startService({ maxInFlight: 4 });
  const running = send('/trpc/slow,slow,slow?batch=1&input={"0":{"ms":200},"1":{"ms":200},"2":{"ms":200}}');
  await until(() => expect(counters.begun).toBe(3));
  const part = await send(batchTarget('slow', 2));
  expect([part.status, part.headers.get('retry-after')]).toEqual([207, '1']);
  const rejected = { error: { data: { code: 'SERVICE_UNAVAILABLE' } } };
  expect(await part.json()).toMatchObject([{ result: { data: 0 } }, rejected]);
  expect((await send(batchTarget('slow', 1))).status).toBe(200);
  expect((await running).status).toBe(200);
});

it('maxInFlight does not count streams and subscriptions that have started', async () => {
  const { send } = await startService({ maxInFlight: 1 });
  const streams = [await send('/v1/drip'), await send('/v1/ticks'), await send('/trpc/ticks')];
  expect((await send('/v1/list')).status).toBe(200);
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const stream of streams) await stream.body?.cancel();
});

it('maxInFlight does not count a call after its client has disconnected', async () => {
  const { send, gateway, counters } = await startService({ maxInFlight: 1 });
  const leaving = new AbortController();
  const abandoned = send('/v1/slow?ms=5000', { signal: leaving.signal });
  await until(() => expect(counters.begun).toBe(1));
  leaving.abort();
  await expect(abandoned).rejects.toThrow(/abort/i);
  await until(() => expect(gateway.callsInFlight()).toBe(0));
});

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
  ['/trpc/list,list,list,list,list,list?batch=1', 207, '12'],
])('GET %s, where a call fails, is answered with %i and Retry-After: %s', async (target, ...expected) => {
  const { send } = await startService({ rateLimit: { calls: 5, windowMs: 60_000 } });
  const response = await send(target);
  await response.text();
  expect([response.status, response.headers.get('retry-after')]).toEqual(expected);
});
