import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Edge, startEdge } from './startEdge.ts';
import { bearer } from 'trpc-gateway';

const startLimited = (attempts: number, windowSeconds = 60) =>
  startEdge({ failedAttempts: { attempts, windowSeconds }, trustProxy: ['127.0.0.1'] });

const sendToken = ({ send }: Edge, token: string, address = '203.0.113.1', target = '/v1/list') =>
  send(target, { headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address } });

describe('failedAttempts', () => {
  it('invalid tokens are always answered with 401 without failedAttempts', async () => {
    const edge = await startEdge();
    for (let at = 0; at < 50; at += 1) expect((await sendToken(edge, 'bad')).status).toBe(401);
  });

  it('invalid tokens over the limit of their address are answered with 429 and Retry-After, over both protocols', async () => {
    const edge = await startLimited(2);
    expect((await sendToken(edge, 'bad-1')).status).toBe(401);
    expect((await sendToken(edge, 'bad-2', '203.0.113.1', '/trpc/list')).status).toBe(401);
    const message = 'Too many invalid tokens from this address: the limit is 2 in 60 s. Try again later.';
    const rest = await sendToken(edge, 'bad-3');
    expect([rest.status, rest.headers.get('retry-after'), await rest.json()]).toEqual([
      429,
      '30',
      { code: 'TOO_MANY_REQUESTS', message, status: 429 },
    ]);
    const rpc = await sendToken(edge, 'bad-4', '203.0.113.1', '/trpc/list');
    expect([rpc.status, rpc.headers.get('retry-after'), await rpc.json()]).toMatchObject([
      429,
      '30',
      { error: { message } },
    ]);
    expect(
      (await edge.dial('/trpc', { authorization: 'Bearer x', 'x-forwarded-for': '203.0.113.1' })).status,
    ).toBe(429);
    expect((await sendToken(edge, 'bad-5', '203.0.113.9')).status).toBe(401);
    expect(edge.records.filter(({ limit }) => limit === 'failed-attempts')).toHaveLength(3);
  });

  it('failedAttempts accepts a valid key from an address over its limit, also if it is seen for the first time', async () => {
    const edge = await startLimited(1);
    for (let at = 0; at < 5; at += 1) await sendToken(edge, `bad-${at}`);
    expect((await sendToken(edge, 'good-key')).status).toBe(200);
    expect((await sendToken(edge, 'other-key')).status).toBe(200);
    expect((await edge.dial('/trpc', { 'x-forwarded-for': '203.0.113.1' })).status).toBe(101);
  });

  it('a request without a credential does not count towards failedAttempts', async () => {
    const edge = await startLimited(1);
    for (let at = 0; at < 3; at += 1) {
      expect((await edge.send('/v1/list', { headers: { authorization: '' } })).status).toBe(401);
    }
  });

  it('a rejected token is verified again if the last verification started half a second ago, however long it took', async () => {
    const verifiedTokens: string[] = [];
    const edge = await startEdge({
      failedAttempts: { attempts: 10, windowSeconds: 60 },
      authentication: bearer<{ readonly name: string }>({
        async verify(token) {
          verifiedTokens.push(token);
          await sleep(600);
          return undefined;
        },
      }),
    });
    for (let at = 0; at < 2; at += 1) expect((await sendToken(edge, 'bad')).status).toBe(401);
    expect(verifiedTokens).toEqual(['bad', 'bad']);
  });

  it('a rejected token is verified at most once in half a second, so that a new key works soon', async () => {
    const edge = await startLimited(10);
    for (let at = 0; at < 3; at += 1) expect((await sendToken(edge, 'bad')).status).toBe(401);
    expect(edge.verifiedTokens).toEqual(['bad']);
    expect(edge.gateway.rejectedTokens()).toBe(1);
    await sleep(550);
    await sendToken(edge, 'bad');
    expect(edge.verifiedTokens).toEqual(['bad', 'bad']);
  });

  it('a rejected token is not verified again while its address is over the limit', async () => {
    const edge = await startLimited(2);
    for (let at = 0; at < 3; at += 1) await sendToken(edge, 'bad');
    await sleep(550);
    for (let at = 0; at < 5; at += 1) expect((await sendToken(edge, 'bad')).status).toBe(429);
    expect(edge.verifiedTokens).toEqual(['bad', 'bad']);
  });

  it('new tokens over the limit are not remembered, so a flood of tokens evicts no rejection', async () => {
    const edge = await startLimited(1);
    await sendToken(edge, 'bad-1');
    await sendToken(edge, 'bad-2');
    await sendToken(edge, 'bad-2');
    await sendToken(edge, 'bad-1');
    expect(edge.verifiedTokens).toEqual(['bad-1', 'bad-2', 'bad-2']);
  });

  it('an address over its limit can call public procedures', async () => {
    const edge = await startLimited(1);
    for (let at = 0; at < 3; at += 1) {
      expect((await sendToken(edge, 'bad', '203.0.113.1', '/v1/open')).status).toBe(200);
      expect((await sendToken(edge, 'bad', '203.0.113.1', '/trpc/open')).status).toBe(200);
    }
  });

  it('an invalid token in connection parameters counts for the address that opened the WebSocket', async () => {
    const edge = await startLimited(1);
    const headers = { authorization: '', 'x-forwarded-for': '203.0.113.1' };
    const { call } = await edge.dial('/trpc?connectionParams=1', headers);
    const rejection = await call({ method: 'connectionParams', data: { authorization: 'Bearer bad' } });
    expect(rejection).toMatchObject({ error: { data: { httpStatus: 401 } } });
    expect((await sendToken(edge, 'worse')).status).toBe(429);
  });
});
