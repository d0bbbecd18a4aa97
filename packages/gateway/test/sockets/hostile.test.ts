import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { expect, it } from 'vitest';
import { rawSocket, upgradeRequest } from '../wire/rawSocket.ts';
import { call, callerOf, startSocketGateway, until } from './startSocketGateway.ts';

const connectionParamsTarget = '/trpc?connectionParams=1';
const credentialMessage = { method: 'connectionParams', data: { authorization: 'Bearer good-key' } };

it.each(['/', '//', '\\', 'a b', 'user@name'])(
  'a WebSocket upgrade with Host: %j does not stop the server',
  async (host) => {
    const { server, connectClient } = await startSocketGateway();
    const socket = rawSocket(server.port, upgradeRequest(connectionParamsTarget).replace('127.0.0.1', host));
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    socket.destroy();
    expect(await callerOf(connectClient())).toBe('Ada');
  },
);

it('a WebSocket that receives over twice maxBodySize of calls while its key is being verified is closed with 1008, and none of them run', async () => {
  const { connectClient } = await startSocketGateway({
    checkKey: () => new Promise(() => {}),
    maxBodySize: 32_768,
  });
  const client = connectClient(connectionParamsTarget, {});
  client.send(credentialMessage);
  const batch = [call(1, 'query', 'x'.repeat(30_000))];
  for (let count = 0; count < 3; count += 1) client.send(batch);
  expect(await client.closed).toEqual([1008, 'Too many messages were sent at once.']);
  expect(client.messages).toEqual([]);
});

it('remoteAddress() of an upgrade request returns the same address in createContext and at each verification of its key', async () => {
  const addresses: string[] = [];
  const { connectClient, keys } = await startSocketGateway({
    checkKey: (request) => addresses.push(request.remoteAddress()),
    onContext: (request) => addresses.push(request.remoteAddress()),
  });
  const client = connectClient();
  client.send(call(1, 'query', 'caller'));
  await until(() => expect(client.messages).toHaveLength(1));
  keys.delete('good-key');
  expect((await client.closed)[0]).toBe(1008);
  expect(addresses.length).toBeGreaterThan(2);
  expect(new Set(addresses)).toEqual(new Set(['127.0.0.1']));
});

it.each<[error: Error, code: number]>([
  [new Error('connect ECONNREFUSED mongodb://user:secret@db'), 1011],
  [new TRPCError({ code: 'SERVICE_UNAVAILABLE', cause: new Error('secret') }), 1013],
  [new TRPCError({ code: 'FORBIDDEN', message: 'Not here.' }), 1008],
])(
  'a WebSocket whose key cannot be verified (%s) is closed with %i, and its error message hides the cause',
  async (error, code) => {
    const { connectClient } = await startSocketGateway({
      checkKey: () => {
        throw error;
      },
    });
    const client = connectClient(connectionParamsTarget, {});
    client.send(credentialMessage);
    expect((await client.closed)[0]).toBe(code);
    expect(JSON.stringify(client.messages)).not.toContain('secret');
    expect(client.messages).toMatchObject([{ error: {} }]);
  },
);

it('failed calls no longer count towards inFlight() once they are answered', async () => {
  const { connectClient, server } = await startSocketGateway();
  const client = connectClient();
  for (let id = 1; id <= 20; id += 1) client.send(call(id, 'query', 'failsLate'));
  await until(() => expect(client.messages).toHaveLength(20));
  expect(server.inFlight()).toBe(0);
  client.send(call(21, 'query', 'caller'));
  await until(() => expect(client.messages.at(-1)).toMatchObject({ id: 21, result: { data: 'Ada' } }));
  expect(await server.close({ timeoutMs: 5000 })).toBe(0);
});

it('a key is no longer verified after its WebSocket is closed', async () => {
  let verifications = 0;
  const { connectClient, server } = await startSocketGateway({
    checkKey: () => {
      verifications += 1;
    },
  });
  const client = connectClient();
  client.send(call(1, 'query', 'caller'));
  await until(() => expect(client.messages).toHaveLength(1));
  // The key of an open WebSocket is verified about once per second.
  await until(() => expect(verifications).toBeGreaterThan(1));
  client.socket.terminate();
  await until(() => expect(server.connections().webSockets).toBe(0));
  const verificationsBefore = verifications;
  await sleep(2500);
  expect(verifications).toBe(verificationsBefore);
});
