import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startEdge } from './startEdge.ts';
import { bearer } from '@petstore/gateway';

const never = () => new Promise<never>(() => {});
const lines = { headers: { 'trpc-accept': 'application/jsonl' } };
const slowLine = '/trpc/list,stubborn?batch=1&input={"1":{"ms":3000}}';

describe.each([
  ['authentication', { authentication: bearer({ verify: never }) }],
  ['createContext', { createContext: never }],
])('%s', (_what, options) => {
  it.each(['/v1/list', '/v1/ticks', '/trpc/list', '/trpc/list,list?batch=1', '/trpc/%6cist'])(
    'may take as long as a call, and counts as one meanwhile: %s',
    async (target) => {
      const { send, records, gateway } = await startEdge({ callTimeoutMs: 150, ...options });
      const asked = send(target);
      await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
      expect((await asked).status).toBe(504);
      expect(gateway.callsInFlight()).toBe(0);
      expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
    },
  );

  it('is refused early where as many calls run as may', async () => {
    const { send } = await startEdge({ callTimeoutMs: 300, maxInFlight: 1, ...options });
    const asked = send('/v1/list');
    await sleep(50);
    const refused = await send('/v1/list');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await asked).status).toBe(504);
  });
});

it.each(['/v1/slow?ms=280', '/trpc/slow?input={"ms":280}', '/trpc/sl%6fw?input={"ms":280}'])(
  'createContext and the call have one deadline together: %s is 504',
  async (target) => {
    const createContext = () => sleep(280, {});
    const { send } = await startEdge({ callTimeoutMs: 400, createContext });
    expect((await send(target)).status).toBe(504);
  },
);

it('no credential is looked up that could not be waited for', async () => {
  const { send, lookedUp, seen } = await startEdge({ maxInFlight: 1 });
  const asked = send('/v1/slow?ms=300');
  await vi.waitFor(() => expect(seen.begun).toBe(1));
  expect((await send('/v1/list')).status).toBe(503);
  expect((await send('/trpc/list')).status).toBe(503);
  expect(lookedUp).toHaveLength(1);
  expect((await asked).status).toBe(200);
});

it('a WebSocket is not let in by who does not decide', async () => {
  const { dial } = await startEdge({ callTimeoutMs: 100, authentication: bearer({ verify: never }) });
  expect((await dial()).status).toBe(504);
});

describe('a line that takes too long', () => {
  it('is told of as the limit that was met', async () => {
    const { send, records } = await startEdge({ callTimeoutMs: 100 });
    const target = '/trpc/list,slow?batch=1&input={"1":{"ms":5000}}';
    await (await send(target, lines)).text();
    await vi.waitFor(() => expect(records).toMatchObject([{ status: 200, limit: 'call-timeout' }]));
  });

  it('is the 504 of its call, where its procedure does not look at its signal', async () => {
    const { send, records, gateway } = await startEdge({ callTimeoutMs: 300 });
    const begun = performance.now();
    const response = await send(slowLine, lines);
    expect(gateway.callsInFlight()).toBe(1);
    expect(await response.text()).toContain('"httpStatus":504');
    expect(performance.now() - begun).toBeLessThan(1000);
    expect(gateway.callsInFlight()).toBe(0);
    await vi.waitFor(() => expect(records).toMatchObject([{ limit: 'call-timeout' }]));
  });

  it('does not end the stream where its error came in time', async () => {
    const { send, seen } = await startEdge({ callTimeoutMs: 100 });
    const received = await send('/trpc/slow,count?batch=1&input={"0":{"ms":5000},"1":{"ms":1500}}', lines);
    const text = await received.text();
    expect(seen.aborted).toEqual(['GATEWAY_TIMEOUT']);
    expect(text).toContain('"error"');
    expect(text).toContain('[[1450]]');
  });

  it('counts as a call in flight', async () => {
    const { send } = await startEdge({ maxInFlight: 2 });
    const response = await send(slowLine, lines);
    expect((await send('/v1/slow?ms=1')).status).toBe(200);
    expect((await send('/trpc/list,list?batch=1', lines)).status).toBe(503);
    await response.body?.cancel();
  });
});

it('a stream that is given after its 504 is ended', async () => {
  const { send, seen } = await startEdge({ callTimeoutMs: 100 });
  expect((await send('/v1/late-drip?ms=300')).status).toBe(504);
  await vi.waitFor(() => expect(seen.discarded).toBe(1));
});

it.each(['/v1/late-ticks?ms=300', '/trpc/lateTicks?input={"ms":300}'])(
  'a subscription counts until it begins: %s',
  async (target) => {
    const { send, gateway } = await startEdge();
    const asked = send(target, { headers: { accept: 'text/event-stream' } });
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
    const response = await asked;
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(0));
    await response.body?.cancel();
  },
);

it('is told of once, whatever the calls make of their signals after it', async () => {
  const told: string[] = [];
  const { send, records, seen } = await startEdge({
    callTimeoutMs: 100,
    rpc: { onError: ({ error }) => void told.push(error.code) },
  });
  const response = await send('/trpc/slow,slow?batch=1&input={"0":{"ms":5000},"1":{"ms":5000}}');
  expect(response.status).toBe(504);
  await vi.waitFor(() => expect(seen.aborted).toHaveLength(2));
  await sleep(20);
  expect(told).toEqual(['GATEWAY_TIMEOUT', 'GATEWAY_TIMEOUT']);
  expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
});
