import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { key, startEdge } from './startEdge.ts';
import { bearer } from '@petstore/gateway';

describe('what a metric can count of an exchange', () => {
  it('is the procedure, the protocol, the calls and the bytes', async () => {
    const { send, post, records } = await startEdge();
    await (await post('/v1/write', { value: 'ü' })).text();
    await (await send('/trpc/list,gone,list?batch=1')).text();
    await send('/v1/list', { method: 'HEAD' });
    await send('/page');
    await send('/v1/list', { method: 'OPTIONS' });
    await send('/v1/list', { headers: { authorization: '' } });
    await (await send('/v1/drip')).text();
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
      // What a client made up is in no label.
      ['rpc', ['list', 'list'], 3, 207, 0, expect.any(Number)],
      ['rest', ['list'], 1, 200, 0, 0],
      ['other', [], 0, 200, 0, 4],
      ['rest', [], 0, 204, 0, 0],
      ['rest', [], 1, 401, 0, expect.any(Number)],
      ['rest', ['drip'], 1, 200, 0, undefined],
    ]);
  });

  it('is data: a log that writes all of it, and later, writes what it was', async () => {
    const { post, records } = await startEdge();
    await (await post('/trpc/write,write?batch=1', { 0: { value: 1 }, 1: { value: 2 } })).text();
    const [record] = records;
    expect(record && JSON.parse(JSON.stringify(record))).toMatchObject({
      operation: 'write,write',
      procedures: ['write', 'write'],
      bytesIn: 33,
      bytesOut: 61,
    });
  });

  it('is there for calls on a WebSocket, and for what opens it', async () => {
    const { dial, records } = await startEdge();
    const { call } = await dial();
    await call({ id: 1, method: 'query', params: { path: 'list' } });
    expect(records).toMatchObject([
      { method: 'GET', protocol: 'rpc', status: 101, calls: 0, procedures: [] },
      { method: 'WS', protocol: 'rpc', status: 200, calls: 1, procedures: ['list'], bytesIn: undefined },
    ]);
  });

  it.each(['/v1/slow?ms=60000', '/trpc/slow?input={"ms":60000}', '/trpc/sl%6fw?input={"ms":60000}'])(
    'a call whose client goes away is reported as status 499 without an error: GET %s',
    async (target) => {
      const { send, records, seen } = await startEdge();
      const client = new AbortController();
      const received = send(target, { signal: client.signal }).catch(() => 'gone');
      await vi.waitFor(() => expect(seen.begun).toBe(1));
      client.abort();
      expect(await received).toBe('gone');
      await vi.waitFor(() => expect(records).toHaveLength(1));
      expect(records).toMatchObject([{ status: 499, error: undefined }]);
    },
  );

  it('is one 500 where onError throws while other calls of the batch wait', async () => {
    const { send, records, seen } = await startEdge({
      callTimeoutMs: 50,
      rpc: {
        onError() {
          throw new Error('The reporter is down.');
        },
      },
    });
    const input = encodeURIComponent(JSON.stringify({ 0: { ms: 500 }, 2: { ms: 1 } }));
    const response = await send(`/trpc/slow,broken,slow?batch=1&input=${input}`);
    expect(response.status).toBe(500);
    // As tRPC has it: the failure of one call keeps no other from beginning. What then fails unheard ends no process.
    expect(seen.begun).toBe(2);
    await vi.waitFor(() => expect(seen.aborted).toContain('GATEWAY_TIMEOUT'));
    expect(records).toMatchObject([{ status: 500, calls: 3 }]);
  });

  it.each(['/trpc/list,broken?batch=1', '/trpc/list,br%6fken?batch=1'])(
    'is the error of a JSON line: %s',
    async (target) => {
      const { send, records } = await startEdge();
      const response = await send(target, { headers: { 'trpc-accept': 'application/jsonl' } });
      expect(await response.text()).toContain('"error"');
      await vi.waitFor(() => expect(records).toHaveLength(1));
      expect(records).toMatchObject([{ status: 200, error: { message: 'disk on fire' } }]);
    },
  );

  it('is told once, as the 500 that it is, where a page gives what is no response', async () => {
    const { send, records } = await startEdge({ routes: { '/page': () => ({ status: 200 }) as never } });
    expect((await send('/page')).status).toBe(500);
    expect(records.map(({ status }) => status)).toEqual([500]);
  });

  it('may fail to be told: what was asked is answered all the same', async () => {
    const { send, dial } = await startEdge({
      authentication: bearer({ verify: (token) => token === 'good-key' && { name: 'Ada' } }),
      onResponse() {
        throw new Error('The log is full.');
      },
    });
    expect((await send('/v1/list')).status).toBe(200);
    expect(await (await send('/v1/drip')).text()).toBe('.....');
    expect((await dial('/trpc', { authorization: 'Bearer bad-key' })).status).toBe(401);
    const { call } = await dial();
    expect(await call({ id: 1, method: 'query', params: { path: 'list' } })).toMatchObject({
      id: 1,
      result: {},
    });
  });

  it('is how many calls run now', async () => {
    const { send, gateway } = await startEdge();
    const response = send('/v1/slow?ms=200');
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1), { timeout: 2000, interval: 5 });
    await response;
    expect(gateway.callsInFlight()).toBe(0);
  });

  it.each([
    ['Content-Length: 99999999999999999', 0],
    ['Content-Length: 5, 5', 0],
    ['Content-Length: 999999999999999', 0],
    [
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{"value":\r\n2\r\n1}\r\n0',
      11,
    ],
  ])('is the bytes that came, not those that were promised: %j', async (headers, bytes) => {
    if (headers === 'Content-Length: 5, 5') {
      skipIfDifferent('the record of a request that the parser rejects');
    }
    const { records, server } = await startEdge();
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.write(`POST /v1/write HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\n${headers}\r\n\r\n`);
    await expect.poll(() => records).toMatchObject([{ path: '/v1/write', bytesIn: bytes }]);
  });

  it('names the limit of a body', async () => {
    const { post, records } = await startEdge({ maxBodyBytes: 10 });
    await post('/v1/write', { value: 'long enough' });
    await post('/trpc/write', { value: 'long enough' });
    expect(records).toMatchObject([
      { status: 413, limit: 'body-bytes' },
      { status: 413, limit: 'body-bytes' },
    ]);
  });

  it('is told of what the host refuses, in the body of all errors', async () => {
    const { gateway, records } = await startEdge();
    const request = { method: 'GET', path: '/v1/list', header: () => undefined } as unknown as Parameters<
      typeof gateway.rejectHttp
    >[0];
    const refusal = { status: 414, code: 'URI_TOO_LONG', message: 'The target is too long.' };
    const response = gateway.rejectHttp(request, refusal);
    expect(JSON.parse(response.body as string)).toEqual({
      code: 'URI_TOO_LONG',
      message: 'The target is too long.',
      status: 414,
    });
    expect(records).toMatchObject([{ status: 414, limit: 'url-bytes', operation: undefined }]);
  });
});
