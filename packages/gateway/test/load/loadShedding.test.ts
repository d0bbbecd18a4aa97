import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { needs } from '../servers.ts';
import { validKey, startService, type ServiceOptions } from '../startService.ts';
import { bearer } from 'trpc-gateway';

/** How long each request blocks the event loop of the server, in milliseconds. */
const busyMs = 20;
/** The number of concurrent clients. Their requests together take longer than `maxQueueMs`. */
const clients = 10;

function blockEventLoop() {
  const end = performance.now() + busyMs;
  while (performance.now() < end);
}

async function startSlow(options: ServiceOptions = {}) {
  needs('load shedding');
  const verify = vi.fn((token: string) => {
    blockEventLoop();
    return token === 'good-key' ? { name: 'Ada' } : undefined;
  });
  const service = await startService({
    maxQueueMs: 50,
    authentication: bearer({ verify: (token) => verify(token) }),
    ...options,
  });
  return { ...service, verify };
}

const repeat = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

/** Runs concurrent clients that send their next request after each response, so that the queue stays full. */
async function overload(send: () => Promise<Response>, rounds = 10): Promise<Response[]> {
  const responses = repeat(clients, async () => {
    const received: Response[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const response = await send();
      await response.clone().arrayBuffer();
      received.push(response);
    }
    return received;
  });
  return (await Promise.all(responses)).flat();
}

const isRejected = ({ status }: Response) => status === 503;
const message = 'The server is overloaded. Try again later.';

it('a REST request over maxQueueMs gets 503 with Retry-After before its credential is verified', async () => {
  const origin = 'https://pets.example';
  const { send, records, verify } = await startSlow({ cors: { origins: [origin] } });
  const responses = await overload(() => send('/v1/list', { headers: { origin } }));
  const rejected = responses.filter(isRejected);
  expect(rejected.length).toBeGreaterThan(0);
  expect(verify).toHaveBeenCalledTimes(responses.length - rejected.length);
  for (const { headers } of rejected) {
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/json',
      'retry-after': '1',
      'x-request-id': expect.any(String),
      'access-control-allow-origin': origin,
    });
  }
  // Rejections share a response body and headers, but each has a unique request id.
  for (const { headers } of rejected) expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
  expect(new Set(rejected.map(({ headers }) => headers.get('x-request-id'))).size).toBe(rejected.length);
  expect(await rejected[0]?.json()).toEqual({ code: 'SERVICE_UNAVAILABLE', message, status: 503 });
  const shed = records.filter(({ limit }) => limit === 'queue-time');
  expect(shed).toHaveLength(rejected.length);
  expect(shed.every(({ status, error }) => status === 503 && error === undefined)).toBe(true);
});

it('a tRPC batch over maxQueueMs gets 503 as one error that every link understands', async () => {
  const { send } = await startSlow();
  const rejected = (await overload(() => send('/trpc/list,list?batch=1'))).filter(isRejected);
  expect(rejected.length).toBeGreaterThan(0);
  expect(rejected[0]?.headers.get('retry-after')).toBe('1');
  expect(await rejected[0]?.json()).toMatchObject({
    error: { message, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } },
  });
});

it('requests for pages and preflights are served during an overload', async () => {
  const { send } = await startSlow();
  const overloaded = overload(() => send('/v1/list'), 12);
  const others: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    others.push((await send('/page')).status, (await send('/v1/list', { method: 'OPTIONS' })).status);
  }
  expect((await overloaded).some(isRejected)).toBe(true);
  expect(others).toEqual(repeat(20, () => [200, 204]).flat());
});

it('calls of gateway.fetch in the same process are served during an overload', async () => {
  const { send, gateway } = await startSlow();
  const overloaded = overload(() => send('/v1/list'));
  const headers = { authorization: validKey };
  const callAll = () => Promise.all(repeat(clients, () => gateway.fetch('http://x/v1/list', { headers })));
  const responses = await callAll();
  expect((await overloaded).some(isRejected)).toBe(true);
  await sleep(0);
  responses.push(...(await callAll()));
  expect(responses.some(isRejected)).toBe(false);
});

it('a WebSocket upgrade over maxQueueMs gets 503', async () => {
  // One request before it is enough to exceed this limit.
  const { send, dial } = await startSlow({ maxQueueMs: 5 });
  const statuses = new Set<number>();
  // Client and server share this process, so on a busy machine an attempt may miss the overload.
  for (let attempt = 0; attempt < 5 && !statuses.has(503); attempt += 1) {
    const overloadEnd = new AbortController();
    void overload(() => send('/v1/list'), 12).then(() => overloadEnd.abort());
    while (!overloadEnd.signal.aborted) {
      for (const status of await Promise.all(repeat(10, () => dial().status))) statuses.add(status);
    }
  }
  statuses.add(await dial().status);
  expect(statuses).toEqual(new Set([101, 503]));
});
