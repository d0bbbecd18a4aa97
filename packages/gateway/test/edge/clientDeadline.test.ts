import { describe, expect, it, vi } from 'vitest';
import { key, startEdge } from './startEdge.ts';

const input = (ms: number) => JSON.stringify({ ms });
const timeout = (value: string) => ({ headers: { 'grpc-timeout': value } });
const sentence = 'longer than 50 ms, the client’s timeout';

it.each([
  ['REST', '/v1/slow?ms=20000'],
  ['tRPC', `/trpc/slow?input=${input(20_000)}`],
])('a call over %s ends at the deadline of its client, where that is sooner', async (_protocol, target) => {
  const { send, records, gateway, seen } = await startEdge();
  const response = await send(target, timeout('50m'));
  expect([response.status, await response.text()]).toEqual([504, expect.stringContaining(sentence)]);
  await vi.waitFor(() => expect(seen.aborted).toEqual(['GATEWAY_TIMEOUT']));
  expect(gateway.callsInFlight()).toBe(0);
  await vi.waitFor(() => expect(records).toMatchObject([{ status: 504, limit: 'call-timeout' }]));
});

it('calls of a batch end at the deadline of their client, and those that have ended keep their outcome', async () => {
  const { send, seen } = await startEdge();
  const response = await send(`/trpc/list,slow?batch=1&input={"1":${input(20_000)}}`, timeout('50000u'));
  expect(await response.json()).toMatchObject([
    { result: { data: 0 } },
    { error: { data: { httpStatus: 504 } } },
  ]);
  expect(seen.aborted).toEqual(['GATEWAY_TIMEOUT']);
});

it('calls of a batch in which one has a deadline of its own end at that of their client', async () => {
  const { send } = await startEdge();
  const inputs = JSON.stringify({ 0: { ms: 20_000 }, 1: { ms: 5000 } });
  const response = await send(`/trpc/hurried,stubborn?batch=1&input=${inputs}`, timeout('50m'));
  const ended = { error: { message: expect.stringContaining(sentence) } };
  expect(await response.json()).toMatchObject([ended, ended]);
});

it('lines of a response end at the deadline of their client', async () => {
  const { send } = await startEdge();
  const response = await send(`/trpc/list,stubborn?batch=1&input={"1":${input(3000)}}`, {
    headers: { 'trpc-accept': 'application/jsonl', 'grpc-timeout': '50m' },
  });
  expect(await response.text()).toContain(sentence);
});

it('the context of a call is not waited for beyond the deadline of its client', async () => {
  const { send } = await startEdge({ createContext: () => new Promise<never>(() => {}) });
  expect((await send('/v1/list', timeout('50m'))).status).toBe(504);
});

it('the deadline of the gateway holds where that of the client is later', async () => {
  const { send } = await startEdge({ callTimeoutMs: 50 });
  const response = await send('/v1/slow?ms=20000', timeout('1H'));
  expect([response.status, await response.text()]).toEqual([
    504,
    expect.stringMatching(/longer than 50 ms; /),
  ]);
});

it('a stream that has begun goes on beyond the deadline of its client', async () => {
  const { send } = await startEdge();
  const response = await send('/v1/drip', timeout('100m'));
  expect(await response.text()).toBe('.....');
});

describe('a malformed Grpc-Timeout', () => {
  it.each(['/v1/write', '/trpc/write'])('is 400, and %s does not run', async (target) => {
    const { post, seen } = await startEdge();
    const response = await post(target, { value: 1 }, { 'grpc-timeout': '5s' });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('Grpc-Timeout: must be'),
    ]);
    expect(seen.written).toBe(0);
  });

  it('is looked at after the credential', async () => {
    const { send } = await startEdge();
    const headers = { 'grpc-timeout': 'soon', authorization: `${key}-not` };
    expect((await send('/v1/list', { headers })).status).toBe(401);
  });

  it('is ignored on a WebSocket, whose calls have no headers', async () => {
    const { dial } = await startEdge();
    const { call, status } = await dial('/trpc', { 'grpc-timeout': 'soon' });
    expect(status).toBe(101);
    expect(await call({ id: 1, method: 'query', params: { path: 'slow', input: { ms: 60 } } })).toMatchObject(
      {
        result: { data: 60 },
      },
    );
  });
});

it('a deadline of a procedure gives way to that of the client, and holds where it is sooner', async () => {
  const { send } = await startEdge();
  const shorter = await send('/v1/hurried?ms=20000', timeout('20S'));
  expect(await shorter.text()).toMatch(/longer than 300 ms; /);
  const longer = await send('/v1/hurried?ms=20000', timeout('50m'));
  expect(await longer.text()).toContain(sentence);
});
