import { describe, expect, it, vi } from 'vitest';
import { validKey, startEdge } from './startEdge.ts';

const inputOfMs = (ms: number) => JSON.stringify({ ms });
const withTimeout = (value: string) => ({ headers: { 'grpc-timeout': value } });
const timeoutMessage = 'timed out after 50 ms (the client’s timeout)';

it.each([
  ['REST', '/v1/slow?ms=20000'],
  ['tRPC', `/trpc/slow?input=${inputOfMs(20_000)}`],
])(
  'a call over %s ends with 504 at the Grpc-Timeout of its client, if that is shorter than callTimeoutMs',
  async (_protocol, target) => {
    const { send, records, gateway, counters } = await startEdge();
    const response = await send(target, withTimeout('50m'));
    expect([response.status, await response.text()]).toEqual([504, expect.stringContaining(timeoutMessage)]);
    await vi.waitFor(() => expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']));
    expect(gateway.callsInFlight()).toBe(0);
    await vi.waitFor(() => expect(records).toMatchObject([{ status: 504, limit: 'call-timeout' }]));
  },
);

it('the calls of a batch that are still running end with 504 at the Grpc-Timeout, and the others keep their results', async () => {
  const { send, counters } = await startEdge();
  const response = await send(
    `/trpc/list,slow?batch=1&input={"1":${inputOfMs(20_000)}}`,
    withTimeout('50000u'),
  );
  expect(await response.json()).toMatchObject([
    { result: { data: 0 } },
    { error: { data: { httpStatus: 504 } } },
  ]);
  expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
});

it('a Grpc-Timeout ends all calls of a batch, also one with its own deadlineMs', async () => {
  const { send } = await startEdge();
  const inputs = JSON.stringify({ 0: { ms: 20_000 }, 1: { ms: 5000 } });
  const response = await send(`/trpc/hurried,stubborn?batch=1&input=${inputs}`, withTimeout('50m'));
  const ended = { error: { message: expect.stringContaining(timeoutMessage) } };
  expect(await response.json()).toMatchObject([ended, ended]);
});

it('a running call of a JSON Lines response ends with an error at the Grpc-Timeout', async () => {
  const { send } = await startEdge();
  const response = await send(`/trpc/list,stubborn?batch=1&input={"1":${inputOfMs(3000)}}`, {
    headers: { 'trpc-accept': 'application/jsonl', 'grpc-timeout': '50m' },
  });
  expect(await response.text()).toContain(timeoutMessage);
});

it('a createContext that takes longer than the Grpc-Timeout is answered with 504', async () => {
  const { send } = await startEdge({ createContext: () => new Promise<never>(() => {}) });
  expect((await send('/v1/list', withTimeout('50m'))).status).toBe(504);
});

it('callTimeoutMs applies if the Grpc-Timeout is longer', async () => {
  const { send } = await startEdge({ callTimeoutMs: 50 });
  const response = await send('/v1/slow?ms=20000', withTimeout('1H'));
  expect([response.status, await response.text()]).toEqual([
    504,
    expect.stringMatching(/timed out after 50 ms\. /),
  ]);
});

it('a stream that has started continues after the Grpc-Timeout', async () => {
  const { send } = await startEdge();
  const response = await send('/v1/drip', withTimeout('100m'));
  expect(await response.text()).toBe('.....');
});

describe('Grpc-Timeout syntax', () => {
  it.each(['/v1/write', '/trpc/write'])(
    'POST %s rejects a malformed Grpc-Timeout with 400 and does not run the procedure',
    async (target) => {
      const { post, counters } = await startEdge();
      const response = await post(target, { value: 1 }, { 'grpc-timeout': '5s' });
      expect([response.status, await response.text()]).toEqual([
        400,
        expect.stringContaining('Grpc-Timeout: must be'),
      ]);
      expect(counters.written).toBe(0);
    },
  );

  it('a malformed Grpc-Timeout with an invalid credential is answered with 401', async () => {
    const { send } = await startEdge();
    const headers = { 'grpc-timeout': 'soon', authorization: `${validKey}-not` };
    expect((await send('/v1/list', { headers })).status).toBe(401);
  });

  it('a malformed Grpc-Timeout is ignored on a WebSocket upgrade, because its calls have no headers', async () => {
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

it('the shorter of deadlineMs and Grpc-Timeout applies', async () => {
  const { send } = await startEdge();
  const shorter = await send('/v1/hurried?ms=20000', withTimeout('20S'));
  expect(await shorter.text()).toMatch(/timed out after 300 ms\. /);
  const longer = await send('/v1/hurried?ms=20000', withTimeout('50m'));
  expect(await longer.text()).toContain(timeoutMessage);
});
