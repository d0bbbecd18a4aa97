import { describe, expect, it, vi } from 'vitest';
import { startEdge } from './startEdge.ts';

describe('what a metric can count of an exchange', () => {
  it('is the procedure, the face, the calls and the bytes', async () => {
    const { ask, post, exchanges } = await startEdge();
    await (await post('/v1/write', { value: 'ü' })).text();
    await (await ask('/trpc/list,gone,list?batch=1')).text();
    await ask('/v1/list', { method: 'HEAD' });
    await ask('/page');
    await ask('/v1/list', { method: 'OPTIONS' });
    await ask('/v1/list', { headers: { authorization: '' } });
    await (await ask('/v1/drip')).text();
    const counted = exchanges.map(({ face, procedures, calls, status, bytesIn, bytesOut }) => [
      face,
      procedures,
      calls,
      status,
      bytesIn,
      bytesOut,
    ]);
    expect(counted).toEqual([
      ['rest', ['write'], 1, 200, 14, 9],
      // What a client made up is in no label.
      ['rpc', ['list', 'list'], 3, 207, 0, expect.any(Number)],
      ['rest', ['list'], 1, 200, 0, 0],
      ['other', [], 0, 200, 0, 4],
      ['rest', [], 0, 204, 0, 0],
      ['rest', [], 1, 401, 0, expect.any(Number)],
      ['rest', ['drip'], 1, 200, 0, undefined],
    ]);
  });

  it('is there for calls on a WebSocket, and for what opens it', async () => {
    const { dial, exchanges } = await startEdge();
    const { call } = await dial();
    await call({ id: 1, method: 'query', params: { path: 'list' } });
    expect(exchanges).toMatchObject([
      { method: 'GET', face: 'rpc', status: 101, calls: 0, procedures: [] },
      { method: 'WS', face: 'rpc', status: 200, calls: 1, procedures: ['list'], bytesIn: undefined },
    ]);
  });

  it('is how many calls run now', async () => {
    const { ask, gateway } = await startEdge();
    const answer = ask('/v1/slow?ms=200');
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1), { timeout: 2000, interval: 5 });
    await answer;
    expect(gateway.callsInFlight()).toBe(0);
  });

  it('names the limit of a body', async () => {
    const { post, exchanges } = await startEdge({ maxBodyBytes: 10 });
    await post('/v1/write', { value: 'long enough' });
    await post('/trpc/write', { value: 'long enough' });
    expect(exchanges).toMatchObject([
      { status: 413, limit: 'body-bytes' },
      { status: 413, limit: 'body-bytes' },
    ]);
  });

  it('is told of what the host refuses, in the body of all errors', async () => {
    const { gateway, exchanges } = await startEdge();
    const request = { method: 'GET', path: '/v1/list', header: () => undefined } as unknown as Parameters<
      typeof gateway.refuse
    >[0];
    const refusal = { status: 414, code: 'URI_TOO_LONG', message: 'The target is too long.' };
    const answer = gateway.refuse(request, refusal);
    expect(JSON.parse(answer.body as string)).toEqual({
      code: 'URI_TOO_LONG',
      message: 'The target is too long.',
      status: 414,
    });
    expect(exchanges).toMatchObject([{ status: 414, limit: 'url-bytes', operation: undefined }]);
  });
});
