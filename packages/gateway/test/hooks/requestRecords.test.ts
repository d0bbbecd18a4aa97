import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { call as callTool, send as sendMessage } from '@petstore/testing/mcpMessages';
import { inProcess, serveInTest } from '../mcp/serveTools.ts';
import { tool } from '../mcp/toolRouter.ts';
import { validKey, startService } from '../startService.ts';

it('a request record has the protocol, the procedures, the number of calls, the status and the bytes, and can be serialized as JSON', async () => {
  const { send, post, records } = await startService();
  await (await post('/v1/write', { value: 'ü' })).text();
  await (await send('/trpc/list,gone,list?batch=1')).text();
  await send('/v1/list', { method: 'HEAD' });
  await send('/page');
  await send('/v1/list', { method: 'OPTIONS' });
  await send('/v1/list', { headers: { authorization: '' } });
  await send('/trpc/list', { method: 'HEAD' });
  await (await send('/v1/drip')).text();
  await (await post('/trpc/write,write?batch=1', { 0: { value: 1 }, 1: { value: 2 } })).text();
  const counted = records.map(({ protocol, procedures, calls, status, bytesIn, bytesOut }) => [
    protocol,
    procedures,
    calls,
    status,
    bytesIn,
    bytesOut,
  ]);
  expect(counted).toEqual([
    ['rest', ['write'], 1, 200, 14, 9],
    // The unknown procedure `gone` is left out: clients must not be able to add metric labels.
    ['trpc', ['list', 'list'], 3, 207, 0, expect.any(Number)],
    ['rest', ['list'], 1, 200, 0, 0],
    ['other', [], 0, 200, 0, 4],
    ['rest', [], 0, 204, 0, 0],
    ['rest', ['list'], 1, 401, 0, expect.any(Number)],
    // As in tRPC, HEAD runs nothing.
    ['trpc', [], 0, 204, 0, 0],
    ['rest', ['drip'], 1, 200, 0, undefined],
    ['trpc', ['write', 'write'], 2, 200, 33, 61],
  ]);
  expect(JSON.parse(JSON.stringify(records.at(-1)))).toMatchObject({ operation: 'write,write', bytesIn: 33 });
});

it('the record of a request has its path as it was sent, without the query, its duration and the bytes of its body', async () => {
  const image = { status: 200, headers: [['content-type', 'image/png']] as const, body: new Uint8Array(5) };
  const { send, records } = await startService({ routes: { '/image': () => image } });
  for (const path of ['/image', '/v1/a%C3%A4']) await send(`${path}?secret=1`);
  expect(records).toMatchObject([
    { path: '/image', status: 200, bytesOut: 5 },
    { path: '/v1/a%C3%A4', status: 404 },
  ]);
  for (const { durationMs } of records) expect(durationMs).toBeGreaterThan(0);
});

it('a WebSocket upgrade and each call on the WebSocket have a request record, with the request id of the upgrade', async () => {
  const { dial, records } = await startService();
  const { call } = dial('/trpc', { 'x-request-id': 'request-1' });
  await call({ id: 1, method: 'query', params: { path: 'list' } });
  const shared = { protocol: 'trpc', requestId: 'request-1' };
  expect(records).toMatchObject([
    { ...shared, method: 'GET', status: 101, calls: 0, procedures: [] },
    { ...shared, method: 'WS', status: 200, calls: 1, procedures: ['list'], bytesIn: undefined },
  ]);
});

it.each([
  ['/v1/slow?ms=60000', 0],
  // As in tRPC’s adapters.
  ['/trpc/slow?input={"ms":60000}', 1],
])(
  'GET %s, whose client disconnects, is recorded with the status 499 and no error, and calls onError %d times',
  async (target, calls) => {
    const onError = vi.fn();
    const { send, records, counters } = await startService({ onError });
    const client = new AbortController();
    const received = send(target, { signal: client.signal }).catch(() => 'gone');
    await vi.waitFor(() => expect(counters.begun).toBe(1));
    client.abort();
    expect(await received).toBe('gone');
    await vi.waitFor(() => expect(records).toHaveLength(1));
    expect(records).toMatchObject([{ status: 499, error: undefined, callErrors: undefined }]);
    await vi.waitFor(() => expect(onError).toHaveBeenCalledTimes(calls));
  },
);

it.each([
  ['Content-Length: 99999999999999999', 0],
  ['Content-Length: 5, 5', 0],
  ['Content-Length: 999999999999999', 0],
  ['Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"value":\r\n2\r\n1}\r\n0', 11],
])('bytesIn is the number of bytes received, not the announced length: %j', async (headers, bytes) => {
  if (headers === 'Content-Length: 5, 5') {
    skipIfDifferent('the record of a request that the parser rejects');
  }
  const { records, server } = await startService();
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST /v1/write HTTP/1.1\r\nHost: x\r\nAuthorization: ${validKey}\r\n${headers}\r\n\r\n`);
  await expect.poll(() => records).toMatchObject([{ path: '/v1/write', bytesIn: bytes }]);
});

it('the record of a call of a tool has the bytes of its result, also of an error, a stream and a repeat, before compression', async () => {
  const keyed = tool.meta({ idempotencyKey: 'optional' });
  const created = await inProcess(
    {
      order: keyed.mutation(() => 'ü'.repeat(5000)),
      steps: tool.subscription(async function* steps() {
        yield 1;
      }),
      fail: tool.query(() => Promise.reject(new Error('x'))),
    },
    { compression: true, onError() {} },
  );
  // Its `fetch` accepts compressed responses.
  const { server, records } = await serveInTest(created);
  const meta = { idempotencyKey: 'k' };
  for (const name of ['order', 'order', 'steps', 'fail']) {
    const { message } = await callTool(server, name, {}, { meta });
    await expect.poll(() => records.length).toBe(1);
    const bytes = Buffer.byteLength(JSON.stringify(message?.result));
    expect([name, records.pop()?.resultBytes]).toEqual([name, bytes]);
  }
  await sendMessage(server, 'tools/list');
  await callTool(server, 'unknown', {});
  await expect.poll(() => records.length).toBe(2);
  expect(records.map(({ resultBytes }) => resultBytes)).toEqual([undefined, undefined]);
});
