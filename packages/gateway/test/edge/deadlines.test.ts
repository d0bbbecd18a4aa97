import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startEdge } from './startEdge.ts';
import { bearer } from 'trpc-gateway';

const pending = vi.fn(() => new Promise<never>(() => {}));
const acceptLines = { headers: { 'trpc-accept': 'application/jsonl' } };
const slowLine = '/trpc/list,stubborn?batch=1&input={"1":{"ms":3000}}';

describe.each([
  ['authentication', { authentication: bearer({ verify: pending }) }],
  ['createContext', { createContext: pending }],
])('the duration of %s', (step, options) => {
  it.each(['/v1/list', '/v1/ticks', '/trpc/list', '/trpc/list,list?batch=1', '/trpc/%6cist'])(
    `GET %s is answered with 504 if ${step} takes longer than callTimeoutMs, and counts as a call in flight until then`,
    async (target) => {
      const { send, records, gateway } = await startEdge({ callTimeoutMs: 150, ...options });
      const response = send(target);
      await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
      expect((await response).status).toBe(504);
      expect(gateway.callsInFlight()).toBe(0);
      expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
    },
  );

  it(`a call that waits for ${step} counts towards maxInFlight: the next call is answered with 503 and Retry-After`, async () => {
    const { send } = await startEdge({ callTimeoutMs: 1000, maxInFlight: 1, ...options });
    pending.mockClear();
    const response = send('/v1/list');
    await vi.waitFor(() => expect(pending).toHaveBeenCalled());
    const rejected = await send('/v1/list');
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await response).status).toBe(504);
  });
});

it.each(['/v1/slow?ms=280', '/trpc/slow?input={"ms":280}', '/trpc/sl%6fw?input={"ms":280}'])(
  'callTimeoutMs covers createContext and the procedure together: GET %s is answered with 504',
  async (target) => {
    const createContext = () => sleep(280, {});
    const { send } = await startEdge({ callTimeoutMs: 400, createContext });
    expect((await send(target)).status).toBe(504);
  },
);

it('a call over maxInFlight is answered with 503 before its credential is verified', async () => {
  const { send, verifiedTokens, counters } = await startEdge({ maxInFlight: 1 });
  const response = send('/v1/slow?ms=300');
  await vi.waitFor(() => expect(counters.begun).toBe(1));
  expect((await send('/v1/list')).status).toBe(503);
  expect((await send('/trpc/list')).status).toBe(503);
  expect(verifiedTokens).toHaveLength(1);
  expect((await response).status).toBe(200);
});

it('a WebSocket upgrade is answered with 504 if verify takes longer than callTimeoutMs', async () => {
  const { dial } = await startEdge({ callTimeoutMs: 100, authentication: bearer({ verify: pending }) });
  expect((await dial()).status).toBe(504);
});

describe('a call of a JSON Lines response', () => {
  it('a call of a JSON Lines response over callTimeoutMs is recorded with the limit call-timeout', async () => {
    const { send, records } = await startEdge({ callTimeoutMs: 100 });
    const target = '/trpc/list,slow?batch=1&input={"1":{"ms":5000}}';
    await (await send(target, acceptLines)).text();
    await vi.waitFor(() => expect(records).toMatchObject([{ status: 200, limit: 'call-timeout' }]));
  });

  it('a call of a JSON Lines response ends with 504 at callTimeoutMs, also if its procedure ignores the signal', async () => {
    const { send, records, gateway } = await startEdge({ callTimeoutMs: 300 });
    const begun = performance.now();
    const response = await send(slowLine, acceptLines);
    expect(gateway.callsInFlight()).toBe(1);
    expect(await response.text()).toContain('"httpStatus":504');
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(gateway.callsInFlight()).toBe(0);
    await vi.waitFor(() => expect(records).toMatchObject([{ limit: 'call-timeout' }]));
  });

  it('a call over callTimeoutMs does not end the other streams of its JSON Lines response', async () => {
    const { send, counters } = await startEdge({ callTimeoutMs: 100 });
    const received = await send(
      '/trpc/slow,count?batch=1&input={"0":{"ms":5000},"1":{"ms":1500}}',
      acceptLines,
    );
    const text = await received.text();
    expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
    expect(text).toContain('"error"');
    expect(text).toContain('[[1450]]');
  });

  it('a call of a JSON Lines response counts towards maxInFlight until it ends', async () => {
    const { send } = await startEdge({ maxInFlight: 2 });
    const response = await send(slowLine, acceptLines);
    expect((await send('/v1/slow?ms=1')).status).toBe(200);
    expect((await send('/trpc/list,list?batch=1', acceptLines)).status).toBe(503);
    await response.body?.cancel();
  });
});

it('a stream that a procedure returns after the 504 of its call is closed', async () => {
  const { send, counters } = await startEdge({ callTimeoutMs: 100 });
  expect((await send('/v1/late-drip?ms=300')).status).toBe(504);
  await vi.waitFor(() => expect(counters.discarded).toBe(1));
});

it.each(['/v1/late-ticks?ms=300', '/trpc/lateTicks?input={"ms":300}'])(
  'GET %s counts as a call in flight until its subscription starts',
  async (target) => {
    const { send, gateway } = await startEdge();
    const opening = send(target, { headers: { accept: 'text/event-stream' } });
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
    const response = await opening;
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(0));
    await response.body?.cancel();
  },
);

it('a timeout is reported once for each call of a batch, also if the calls throw when their signals abort', async () => {
  const reported: string[] = [];
  const { send, records, counters } = await startEdge({
    callTimeoutMs: 100,
    trpc: { onError: ({ error }) => void reported.push(error.code) },
  });
  const response = await send('/trpc/slow,slow?batch=1&input={"0":{"ms":5000},"1":{"ms":5000}}');
  expect(response.status).toBe(504);
  await vi.waitFor(() => expect(counters.aborted).toHaveLength(2));
  await sleep(20);
  expect(reported).toEqual(['GATEWAY_TIMEOUT', 'GATEWAY_TIMEOUT']);
  expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
});
