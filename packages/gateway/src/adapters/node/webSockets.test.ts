import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { closeCodeOf, frame } from '@petstore/testing/webSocketFrames';
import { expect, it, onTestFinished, vi } from 'vitest';
import { dial, get, listenOn, ok, until } from '../testing/dial.ts';
import {
  handshake,
  openRaw,
  recordingAcceptor,
  recordingHandler,
  type RecordingHandler,
} from '../testing/sockets.ts';
import { certificateFiles, dialTls } from '@petstore/testing/certificateFiles';
import type { Service } from '../../http/service.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

const h2c =
  'POST /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nX-Name: \xe9\r\n';

const echo: Service['handle'] = async (request) =>
  ok(`${request.method} ${Buffer.from(await request.body(1_000_000)).toString()}`);

async function open(service: Partial<Service> = {}, options: Parameters<typeof dial>[2] = {}) {
  const { accept, handlers } = recordingAcceptor();
  const listening = await listen({ handle: () => ok(), upgrade: () => accept, ...service });
  return { ...(await openRaw(handlers, listening, undefined, options)), listening };
}

it.each<[string, string]>([
  ['without a body', 'Content-Length: 0\r\n\r\n'],
  ['with a length', 'Content-Length: 6\r\n\r\nABCDEF'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n6\r\nABCDEF\r\n0\r\n\r\n'],
])('an h2c upgrade request %s is handled as a request, and its connection closes', async (_how, body) => {
  const { socket, text, closed } = await dial(
    await listen({ handle: echo, upgrade: () => recordingHandler }),
  );
  // Node's parser drops the rest of the packet after the end of the body.
  socket.write(`${h2c}${body}GET /lost HTTP/1.1\r\nX: `, 'latin1');
  await until(() => expect(text()).toMatch(/\r\n\r\nPOST (?:ABCDEF)?$/));
  socket.write(`a\r\n\r\n${get('/smuggled')}`);
  await closed;
  expect(text()).not.toContain('smuggled');
});

it('an upgrade without a valid key gets 400 in the format of the service', async () => {
  const listening = await listen({ handle: () => ok(), upgrade: () => recordingHandler });
  const { text } = await dial(listening, `${handshake.replace('dGhl', '')}\r\n`);
  await until(() => expect(text()).toMatch(/^HTTP\/1\.1 400 .*"code":"BAD_REQUEST".*Sec-WebSocket-Key/s));
  expect(listening.connections().webSockets).toBe(0);
});

it('an upgrade pipelined after a pending request closes the connection', async () => {
  const held = Promise.withResolvers<ReturnType<typeof ok>>();
  const listening = await listen({ handle: () => held.promise, upgrade: () => recordingHandler });
  const { closed, text } = await dial(listening, `GET / HTTP/1.1\r\nHost: x\r\n\r\n${handshake}\r\n`);
  await closed;
  held.resolve(ok('late'));
  expect(text()).toBe('');
});

it('frames that arrive with the upgrade request are received', async () => {
  const { accept, handlers } = recordingAcceptor();
  const listening = await listen({ handle: () => ok(), upgrade: async () => accept });
  await dial(listening, Buffer.concat([Buffer.from(`${handshake}\r\n`), frame('first'), frame('second')]));
  await until(() => expect(handlers[0]?.events).toEqual(['text first', 'text second']));
});

it.each<[what: string, bytes: Buffer, code: number]>([
  ['without a mask', Buffer.from([0x81, 0x01, 0x41]), 1002],
  ['that is a text in invalid UTF-8', frame(Buffer.from([0xff])), 1007],
  ['that is a close frame with an invalid code', frame(Buffer.from([0x03, 0xed]), { opcode: 8 }), 1002],
  ['of 2 ** 53 bytes', frame('', { length: 2 ** 53 }), 1009],
])('a WebSocket is closed once, with the right code, for a frame %s', async (_what, bytes, code) => {
  const { bytes: received, server, socket } = await open();
  socket.write(bytes);
  await until(() => expect(closeCodeOf(received())).toBe(code));
  expect(server.events.filter((event) => event !== 'message-bytes')).toEqual(['closed']);
  socket.write(frame('late'));
  socket.end();
  await until(() => expect(socket.destroyed).toBe(true));
  expect(server.events).not.toContain('text late');
});

it('a WebSocket receives a message in fragments with pings between them, up to maxMessageSize', async () => {
  const { server, socket, text } = await open({ maxMessageSize: 10 });
  socket.write(frame('12345', { fin: false }));
  socket.write(frame('ping', { opcode: 9 }));
  socket.write(frame('67890', { opcode: 0 }));
  await until(() => expect(server.events).toEqual(['pinged', 'text 1234567890']));
  socket.write(frame('12345', { fin: false }));
  socket.write(frame('678901', { opcode: 0, fin: false }));
  await until(() => expect(server.events.slice(2)).toEqual(['message-bytes', 'closed']));
  await until(() => expect(text()).toContain('The message is larger than 10 bytes.'));
});

it.each<[what: string, send: (socket: Socket) => void]>([
  [
    'a message in too many fragments',
    (socket) => {
      const empty = frame('', { opcode: 0, fin: false });
      socket.write(Buffer.concat([frame('', { fin: false }), ...Array.from({ length: 100 }, () => empty)]));
    },
  ],
  [
    'a frame in too many packets',
    (socket) => {
      socket.setNoDelay().write(frame('x'.repeat(1024)).subarray(0, 8));
      const send = setInterval(() => socket.write('x'), 2);
      onTestFinished(() => clearInterval(send));
    },
  ],
])('a WebSocket is closed with 1008 for %s', async (_what, send) => {
  const { bytes, server, socket } = await open({ maxMessageSize: 1024 });
  send(socket);
  await until(() => expect(server.events).toEqual(['closed']));
  await until(() => expect(closeCodeOf(bytes())).toBe(1008));
});

it('a close frame of the client closes the WebSocket and ends the connection, even if the client leaves it open', async () => {
  const { listening, server, socket } = await open({}, { allowHalfOpen: true });
  socket.write(frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }));
  await until(() => expect(server.events).toEqual(['closed']));
  await until(() => expect(listening.connections()).toEqual({ http: 0, webSockets: 0 }));
});

it('the connection of a client that sends more than 100 messages after the server has closed its WebSocket is ended', async () => {
  const accepted: Socket[] = [];
  const add = (message: unknown) => void accepted.push((message as { readonly socket: Socket }).socket);
  subscribe('net.server.socket', add);
  const { bytes, server, socket } = await open();
  unsubscribe('net.server.socket', add);
  server.socket.close(4000);
  await until(() => expect(closeCodeOf(bytes())).toBe(4000));
  const late = frame('late');
  socket.write(Buffer.concat(Array.from({ length: 100 }, () => late)));
  await until(() => expect(accepted[0]?.bytesRead).toBe(socket.bytesWritten));
  expect(accepted[0]?.destroyed).toBe(false);
  socket.write(late);
  await until(() => expect(socket.destroyed).toBe(true));
  expect(server.events).toEqual(['closed']);
});

it('a WebSocket is closed when the client ends the connection, even with unsent bytes', async () => {
  const { server, socket } = await open();
  socket.pause();
  server.socket.send('x'.repeat(20_000_000));
  expect(server.socket.bufferedBytes).toBeGreaterThan(1_000_000);
  socket.end();
  await until(() => expect(server.events).toEqual(['closed']));
  expect(server.socket.bufferedBytes).toBe(0);
});

it('a WebSocket is terminated for more than 100 pongs in a second', async () => {
  const { closed, server, socket } = await open();
  const pong = frame('', { opcode: 10 });
  socket.write(Buffer.concat(Array.from({ length: 101 }, () => pong)));
  await closed;
  expect(server.events).toEqual(['pings', 'closed']);
});

it('bufferedBytes includes the memory overhead of unsent frames', async () => {
  const { server, socket } = await open();
  socket.pause();
  server.socket.send('x'.repeat(20_000_000));
  const before = server.socket.bufferedBytes;
  for (let count = 0; count < 1000; count += 1) server.socket.send('PONG');
  expect(server.socket.bufferedBytes - before).toBeGreaterThan(500_000);
});

it('message data keeps no larger buffer in memory', async () => {
  const messages: Buffer[] = [];
  const accept = (socket: RecordingHandler['socket']) => ({
    ...recordingHandler(socket),
    inFlight: 0,
    message: (data: Buffer) => void messages.push(data),
  });
  const { socket } = await open({ upgrade: () => accept });
  socket.write(Buffer.concat([frame('small', { opcode: 2 }), frame('x'.repeat(30_000), { opcode: 2 })]));
  await until(() => expect(messages).toHaveLength(2));
  expect(messages.map(({ buffer }) => buffer.byteLength)).toEqual([5, expect.toSatisfy((n) => n < 60_000)]);
});

it('an idle WebSocket is pinged after 40 s and terminated after two unanswered pings', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { closed, server, socket, text } = await open();
  const pings = () => text().split('\uFFFD\0').length - 1;
  // The first check finds the bytes of the upgrade request.
  vi.advanceTimersByTime(40_000);
  vi.advanceTimersByTime(40_000);
  await until(() => expect(pings()).toBe(1));
  socket.write(frame('', { opcode: 10 }));
  // Time to read the pong.
  await new Promise((resolve) => setTimeout(resolve, 50));
  vi.advanceTimersByTime(120_000);
  await until(() => expect(pings()).toBe(3));
  expect(server.events).toEqual([]);
  vi.advanceTimersByTime(40_000);
  await closed;
  expect(server.events).toEqual(['closed']);
});

it('an upgrade over TLS opens a WebSocket', async () => {
  const tls = await certificateFiles('localhost');
  const { accept, handlers } = recordingAcceptor();
  const listening = await listen({ handle: () => ok(), upgrade: () => accept }, { tls });
  const { socket: connection } = await dialTls(listening);
  connection.resume();
  connection.write(Buffer.concat([Buffer.from(`${handshake}\r\n`), frame('hello')]));
  await until(() => expect(handlers[0]?.events).toEqual(['text hello']));
  expect(listening.connections()).toEqual({ http: 0, webSockets: 1 });
  await listening.close();
  await until(() => expect(connection.destroyed).toBe(true));
});
