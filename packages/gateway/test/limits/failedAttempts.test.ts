import { expect, it } from 'vitest';
import { type Service, startService } from '../startService.ts';

const startLimited = (attempts: number, windowMs = 60_000) =>
  startService({ failedAttempts: { attempts, windowMs }, trustProxy: ['127.0.0.1'] });

const sendToken = ({ send }: Service, token: string, address = '203.0.113.1', target = '/v1/list') =>
  send(target, { headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': address } });

it('invalid tokens are always answered with 401 without failedAttempts', async () => {
  const service = await startService();
  for (let at = 0; at < 50; at += 1) expect((await sendToken(service, 'bad')).status).toBe(401);
});

it('invalid tokens over the limit of their address are answered with 429 and Retry-After, over both protocols', async () => {
  const service = await startLimited(2);
  expect((await sendToken(service, 'bad-1')).status).toBe(401);
  expect((await sendToken(service, 'bad-2', '203.0.113.1', '/trpc/list')).status).toBe(401);
  const message = 'Too many invalid tokens from this address: the limit is 2 in 60 s. Try again later.';
  const rest = await sendToken(service, 'bad-3');
  expect([rest.status, rest.headers.get('retry-after'), await rest.json()]).toEqual([
    429,
    '30',
    { code: 'TOO_MANY_REQUESTS', message, status: 429 },
  ]);
  const rpc = await sendToken(service, 'bad-4', '203.0.113.1', '/trpc/list');
  expect([rpc.status, rpc.headers.get('retry-after'), await rpc.json()]).toMatchObject([
    429,
    '30',
    { error: { message } },
  ]);
  expect(
    await service.dial('/trpc', { authorization: 'Bearer x', 'x-forwarded-for': '203.0.113.1' }).status,
  ).toBe(429);
  expect((await sendToken(service, 'bad-5', '203.0.113.9')).status).toBe(401);
  expect(service.records.filter(({ limit }) => limit === 'failed-attempts')).toHaveLength(3);
});

it('failedAttempts accepts a valid key from an address over its limit, also if it is seen for the first time', async () => {
  const service = await startLimited(1);
  for (let at = 0; at < 5; at += 1) await sendToken(service, `bad-${at}`);
  expect((await sendToken(service, 'good-key')).status).toBe(200);
  expect((await sendToken(service, 'other-key')).status).toBe(200);
  expect(await service.dial('/trpc', { 'x-forwarded-for': '203.0.113.1' }).status).toBe(101);
});

it('a request without a credential does not count towards failedAttempts', async () => {
  const service = await startLimited(1);
  for (let at = 0; at < 3; at += 1) {
    expect((await service.send('/v1/list', { headers: { authorization: '' } })).status).toBe(401);
  }
});

it('new tokens over the limit are not remembered, so a flood of tokens evicts no rejection', async () => {
  const service = await startLimited(1);
  await sendToken(service, 'bad-1');
  await sendToken(service, 'bad-2');
  await sendToken(service, 'bad-2');
  await sendToken(service, 'bad-1');
  expect(service.verifiedTokens).toEqual(['bad-1', 'bad-2', 'bad-2']);
});

it('an address over its limit can call public procedures', async () => {
  const service = await startLimited(1);
  for (let at = 0; at < 3; at += 1) {
    expect((await sendToken(service, 'bad', '203.0.113.1', '/v1/open')).status).toBe(200);
    expect((await sendToken(service, 'bad', '203.0.113.1', '/trpc/open')).status).toBe(200);
  }
});

it('an invalid token in connection parameters counts for the address that opened the WebSocket', async () => {
  const service = await startLimited(1);
  const headers = { authorization: '', 'x-forwarded-for': '203.0.113.1' };
  const { call } = service.dial('/trpc?connectionParams=1', headers);
  const rejection = await call({ method: 'connectionParams', data: { authorization: 'Bearer bad' } });
  expect(rejection).toMatchObject({ error: { data: { httpStatus: 401 } } });
  expect((await sendToken(service, 'worse')).status).toBe(429);
});
