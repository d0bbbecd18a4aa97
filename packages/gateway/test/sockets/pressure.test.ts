import { once } from 'node:events';
import { frame } from '@petstore/testing/webSocketFrames';
import { bearer, type HttpRequest } from 'trpc-gateway';
import { expect, it, onTestFinished, vi } from 'vitest';
import { observedHere } from '../adapterDifferences.ts';
import { rawSocket, upgradeRequest } from '../wire/rawSocket.ts';
import { callMessage } from '../socketClient.ts';
import { startService } from '../startService.ts';

// What an adapter does for the limits of WebSockets: `webSockets.test.ts` beside the protocol has the rest in process.

it.each([
  [1000, 65_536],
  [1_048_576, 2_097_152],
])(
  'with maxBodySize: %d, a WebSocket receives a message of %d bytes, and a larger one closes it',
  async (maxBodySize, largest) => {
    const { dial } = await startService({ maxBodySize });
    const client = dial();
    const message = JSON.stringify(callMessage(1, 'query', 'list'));
    await once(client.socket, 'open');
    client.socket.send(message.padEnd(maxBodySize));
    await vi.waitFor(() => expect(client.messages).toMatchObject([{ id: 1, result: { data: 0 } }]));
    for (const bytes of [maxBodySize + 1, largest]) client.socket.send(message.padEnd(bytes));
    const tooLarge = { id: 1, error: { data: { code: 'PAYLOAD_TOO_LARGE' } } };
    await vi.waitFor(() => expect(client.messages.slice(1)).toMatchObject([tooLarge, tooLarge]));
    client.socket.send(message.padEnd(largest + 1));
    expect((await client.closed)[0]).toBe(observedHere('a message that is longer than twice maxBodySize'));
  },
);

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
