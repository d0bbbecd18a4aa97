import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { frame } from '@petstore/testing/webSocketFrames';
import { bearer, type HttpRequest } from 'trpc-gateway';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { needs } from '../servers.ts';
import { callMessage } from '../socketClient.ts';
import { startService } from '../startService.ts';
import { rawSocket, upgradeRequest } from '../wire/rawSocket.ts';

// Before a test sends calls: without WebSockets, it would wait for what no socket begins.
beforeEach(() => needs('WebSockets'));

const reconnect = { id: null, method: 'reconnect' };
const until = (check: () => void) => vi.waitFor(check, { interval: 5 });

it('close() sends a reconnect message to WebSockets without running queries or mutations, and closes them with 1001', async () => {
  const { dial, server } = await startService();
  const client = dial();
  client.send(callMessage(1, 'subscription', 'endless'));
  await until(() => expect(client.messages.length).toBeGreaterThan(2));
  expect(await server.close({ graceMs: 100 })).toBe(0);
  expect(await client.closed).toEqual([1001, 'The server is stopping.']);
  expect(client.messages).toContainEqual(reconnect);
  expect(JSON.stringify(client.messages)).not.toContain('stopped');
});

// A mutation that runs completes before the reconnect message: otherwise the client would send it again.
it.each(['query', 'mutation'] as const)(
  'a %s that arrives while close() waits for another call of its WebSocket is answered with 503 and does not run',
  async (method) => {
    const { dial, server, counters, records } = await startService();
    const client = dial();
    client.send(callMessage(1, 'query', 'waits'));
    await until(() => expect([server.connections().webSockets, server.inFlight()]).toEqual([1, 1]));
    const closed = server.close({ graceMs: 10 });
    const path = method === 'query' ? 'list' : 'write';
    client.send(callMessage(2, method, path, { value: 1 }));
    client.send([callMessage(3, method, path, { value: 1 }), callMessage(4, method, path, { value: 1 })]);
    await until(() => expect(client.messages).toHaveLength(3));
    counters.release.resolve();
    expect(await closed).toBe(0);
    expect(await client.closed).toEqual([1001, 'The server is stopping.']);
    const rejected = { code: -32603, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503, path } };
    expect(client.messages).toMatchObject([
      { id: 2, error: rejected },
      { id: 3, error: rejected },
      { id: 4, error: rejected },
      { id: 1, result: { data: 'released' } },
      reconnect,
    ]);
    expect(counters.written).toBe(0);
    const rejections = records.filter(({ status }) => status === 503);
    expect(rejections).toHaveLength(3);
    for (const rejection of rejections)
      expect(rejection).toMatchObject({ error: undefined, limit: 'stopping' });
  },
);

it('a subscription that arrives while close() waits for a call of its WebSocket starts, and heartbeats are answered', async () => {
  const { dial, server, counters } = await startService();
  const client = dial();
  client.send(callMessage(1, 'query', 'waits'));
  await until(() => expect([server.connections().webSockets, server.inFlight()]).toEqual([1, 1]));
  const closed = server.close({ graceMs: 10 });
  client.send(callMessage(2, 'subscription', 'endless'));
  const received: string[] = [];
  client.socket.removeAllListeners('message').on('message', (data: Buffer) => received.push(data.toString()));
  client.socket.send('PING');
  await until(() => expect(received).toContain('PONG'));
  await until(() => expect(received.join()).toContain('"type":"data","data":1'));
  counters.release.resolve();
  expect(await closed).toBe(0);
  expect((await client.closed)[0]).toBe(1001);
});

it('a call that waits for createContext when close() is called is answered with 503', async () => {
  const context = Promise.withResolvers<object>();
  const { dial, server, counters } = await startService({
    createContext: () => context.promise,
  });
  const client = dial();
  const isReceived = new Promise((resolve) => client.socket.once('pong', resolve));
  client.send(callMessage(1, 'mutation', 'write', { value: 1 }));
  client.socket.once('open', () => client.socket.ping());
  await isReceived;
  const closed = server.close({ graceMs: 10 });
  context.resolve({});
  expect(await closed).toBe(0);
  expect(client.messages).toMatchObject([{ id: 1, error: { data: { httpStatus: 503 } } }, reconnect]);
  expect(counters.written).toBe(0);
});

it.each([
  ['its WebSocket is opened', '/trpc', []],
  [
    'the connection parameters arrive after close()',
    '/trpc?connectionParams=1',
    [{ method: 'connectionParams', data: { authorization: 'Bearer good-key' } }],
  ],
])(
  'a call that arrives after close() is answered with 503 although createContext, called when %s, takes longer than graceMs',
  async (_, target, parameters) => {
    const context = Promise.withResolvers<object>();
    const createContext = vi.fn(async () => context.promise);
    const { dial, server, counters } = await startService({ createContext });
    const client = dial(target, parameters.length > 0 ? { authorization: '' } : {});
    await once(client.socket, 'open');
    const closed = server.close({ graceMs: 500 });
    for (const message of parameters) client.send(message);
    client.send(callMessage(1, 'mutation', 'write', { value: 1 }));
    await until(() => expect(createContext).toHaveBeenCalledTimes(1));
    await sleep(1000);
    context.resolve({});
    expect(await closed).toBe(0);
    expect(await client.closed).toEqual([1001, 'The server is stopping.']);
    expect(client.messages).toMatchObject([reconnect, { id: 1, error: { data: { httpStatus: 503 } } }]);
    expect(counters.written).toBe(0);
  },
);

it('close() resolves as soon as its clients have closed their WebSockets', async () => {
  const { dial, server } = await startService();
  const client = dial();
  client.socket.on('message', (data: Buffer) => {
    if (data.toString().includes('reconnect')) client.socket.close();
  });
  client.send(callMessage(1, 'query', 'list'));
  await until(() => expect(client.messages).toHaveLength(1));
  expect(await server.close({ graceMs: 600_000, timeoutMs: 900_000 })).toBe(0);
});

it.each<[path: string, text: RegExp, aborted: readonly string[]]>([
  ['/trpc/endless', /data: \d+\n\n+$/, ['endless']],
  ['/v1/endless', /data: \d+\n\n+$/, ['endless']],
  // No event is sent.
  ['/trpc/silence', /^(?!.*data: 1)/s, []],
  ['/trpc/neverYields', /^(?!.*data: 1)/s, []],
  ['/v1/never-yields', /^(?!.*data: 1)/s, []],
])('close() completes the event stream of %s', async (path, expected, aborted) => {
  const { send, server, counters } = await startService();
  const response = await send(path);
  // text() rejects if the last chunk is missing.
  const text = response.text();
  await until(() => expect(server.inFlight()).toBe(1));
  expect(await server.close()).toBe(0);
  expect(await text).toMatch(expected);
  await until(() => expect(counters.aborted).toEqual(aborted));
});

it('close() waits for a mutation of a disconnected WebSocket, but not for its subscription', async () => {
  const { dial, server, counters } = await startService();
  const client = dial();
  client.send([
    callMessage(1, 'mutation', 'write', { value: 1, ms: 300 }),
    callMessage(2, 'subscription', 'startsLate'),
  ]);
  await until(() => expect(server.inFlight()).toBe(2));
  client.socket.terminate();
  await until(() => expect(server.connections().webSockets).toBe(0));
  expect(await server.close({ timeoutMs: 600_000, graceMs: 0 })).toBe(0);
  expect(counters.written).toBe(1);
});

it('close() closes the WebSocket of a call that still runs at timeoutMs, and resolves with the number of such calls', async () => {
  const { dial, server } = await startService();
  const client = dial();
  client.send(callMessage(1, 'query', 'waits'));
  await until(() => expect([server.connections().webSockets, server.inFlight()]).toEqual([1, 1]));
  expect(await server.close({ timeoutMs: 50 })).toBe(1);
  expect((await client.closed)[0]).toBe(1001);
});

it('remoteAddress() of an upgrade request returns the same address in createContext and at each verification of its key', async () => {
  const addresses: string[] = [];
  const keep = (request: HttpRequest) => void addresses.push(request.remoteAddress());
  const keys = new Map([['good-key', { name: 'Ada' }]]);
  const { dial } = await startService({
    authentication: bearer({
      verify(token, request) {
        keep(request);
        return keys.get(token);
      },
    }),
    createContext({ request }) {
      keep(request);
      return {};
    },
  });
  const client = dial();
  client.send(callMessage(1, 'query', 'list'));
  await vi.waitFor(() => expect(client.messages).toHaveLength(1));
  keys.delete('good-key');
  expect((await client.closed)[0]).toBe(1008);
  expect(addresses.length).toBeGreaterThan(2);
  expect(new Set(addresses)).toEqual(new Set(['127.0.0.1']));
});

it.each<[condition: string, frames: Buffer]>([
  ['one frame', frame('x'.repeat(66_000), { length: 1_000_000 })],
  [
    'several fragments',
    Buffer.concat([
      frame('x'.repeat(40_000), { fin: false }),
      frame('x'.repeat(40_000), { opcode: 0, fin: false }),
    ]),
  ],
])(
  'a WebSocket without a credential that sends over twice maxBodySize of an unfinished message in %s is disconnected',
  async (_condition, frames) => {
    const { records, server } = await startService({ maxBodySize: 32_768 });
    const socket = rawSocket(server.port, upgradeRequest('/trpc?connectionParams=1'));
    onTestFinished(() => void socket.destroy());
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await once(socket, 'data');
    socket.write(frames);
    await closed;
    expect(records.at(-1)).toMatchObject({ method: 'WS', status: 413, limit: 'message-bytes' });
  },
);
