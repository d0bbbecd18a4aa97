import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { closeCodeOf, frame, headOfFrame } from '../server/testing/frames.ts';
import { dial, get, listenOn, ok, until, type Dialled } from '../server/testing/dial.ts';
import { handshake, owner, type Owner } from '../server/testing/sockets.ts';
import { certificateFiles, dialTls } from '../server/testing/tls.ts';
import type { Service } from '../../http/service.ts';
import type { Listening } from './index.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

const h2c =
  'POST /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nX-Name: \xe9\r\n';

const echo: Service['handle'] = async (request) =>
  ok(`${request.method} ${Buffer.from(await request.body(1_000_000)).toString()}`);

type DialOptions = Parameters<typeof dial>[1];

interface Opened extends Dialled {
  readonly listening: Listening;
  readonly server: Owner;
  readonly bytes: () => Buffer;
}

/** Opens a socket of a client that speaks for itself. */
async function openRaw(service: Partial<Service> = {}, options: DialOptions = {}): Promise<Opened> {
  const owners: Owner[] = [];
  const accept = (socket: Owner['socket']) => {
    owners.push(owner(socket));
    return owners.at(-1) as Owner;
  };
  const listening = await listen({ handle: () => ok(), upgrade: () => accept, ...service });
  const dialled = await dial(listening, options);
  dialled.socket.write(`${handshake}\r\n`);
  await until(() => expect(dialled.text()).toContain('101'));
  const chunks: Buffer[] = [];
  dialled.socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { ...dialled, listening, server: owners[0] as Owner, bytes: () => Buffer.concat(chunks) };
}

describe('a request for an upgrade that is not to a WebSocket', () => {
  it.each<[string, string]>([
    ['with a length', 'Content-Length: 6\r\n\r\nABCDEF'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n6\r\nABCDEF\r\n0\r\n\r\n'],
  ])('is handled with its body %s, and its connection is closed', async (_how, body) => {
    const { socket, text, closed } = await dial(await listen({ handle: echo, upgrade: () => owner }));
    // Node's parser drops what comes in the packet of its end.
    socket.write(`${h2c}${body}GET /lost HTTP/1.1\r\nX: `, 'latin1');
    await until(() => expect(text()).toContain('\r\n\r\nPOST ABCDEF'));
    socket.write(`a\r\n\r\n${get('/smuggled')}`);
    await closed;
    expect(text()).not.toContain('smuggled');
  });
});

describe('a request for a WebSocket that the service handles as a request', () => {
  it('leaves no listeners on its connection, however often', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const { socket, text } = await dial(await listen({ handle: () => ok('x'), upgrade: () => undefined }));
    for (let count = 1; count <= 30; count += 1) {
      socket.write(`${handshake}\r\n`);
      await until(() => expect(text().split('\r\n\r\nx')).toHaveLength(count + 1));
    }
    expect(warned).not.toHaveBeenCalled();
  });
});

describe('a request for a WebSocket', () => {
  it('without a valid key is 400, as an error of the service', async () => {
    const listening = await listen({ handle: () => ok(), upgrade: () => owner });
    const { socket, text } = await dial(listening);
    socket.write(`${handshake.replace('dGhl', '')}\r\n`);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 400 .*"code":"BAD_REQUEST".*Sec-WebSocket-Key/s));
    expect(listening.connections().webSockets).toBe(0);
  });

  it('that is pipelined behind an unanswered request ends the connection: the response would be in the frames', async () => {
    const held = Promise.withResolvers<ReturnType<typeof ok>>();
    const listening = await listen({ handle: () => held.promise, upgrade: () => owner });
    const { closed, socket, text } = await dial(listening);
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\n\r\n${handshake}\r\n`);
    await closed;
    held.resolve(ok('late'));
    expect(text()).toBe('');
  });

  it('is not opened where its client ends the connection while it is decided', async () => {
    const decided = Promise.withResolvers<typeof owner>();
    const listening = await listen({ handle: () => ok(), upgrade: () => decided.promise });
    const { closed, socket } = await dial(listening);
    socket.write(`${handshake}\r\n`);
    await until(() => expect(listening.inFlight()).toBe(1));
    socket.end();
    await closed;
    decided.resolve(owner);
    await until(() => expect(listening.inFlight()).toBe(0));
    expect(listening.connections().webSockets).toBe(0);
  });

  it('may bring its first frames with it', async () => {
    const owners: Owner[] = [];
    const listening = await listen({
      handle: () => ok(),
      upgrade: async () => (socket) => {
        owners.push(owner(socket));
        return owners[0] as Owner;
      },
    });
    const { socket } = await dial(listening);
    socket.write(Buffer.concat([Buffer.from(`${handshake}\r\n`), frame('first'), frame('second')]));
    await until(() => expect(owners[0]?.told).toEqual(['text first', 'text second']));
  });
});

describe('a WebSocket', () => {
  it.each<[what: string, bytes: Buffer, code: number]>([
    ['without a mask', Buffer.from([0x81, 0x01, 0x41]), 1002],
    ['with a reserved bit', frame('x', { reserved: 0x40 }), 1002],
    ['of an unknown opcode', frame('x', { opcode: 3 }), 1002],
    ['that continues no message', frame('x', { opcode: 0 }), 1002],
    ['that is a ping of 126 bytes', frame('x'.repeat(126), { opcode: 9 }), 1002],
    ['that is a text, but not in UTF-8', frame(Buffer.from([0xff])), 1007],
    ['that is a close frame with an invalid code', frame(Buffer.from([0x03, 0xed]), { opcode: 8 }), 1002],
    ['of 2 ** 53 bytes', headOfFrame(2 ** 53), 1009],
  ])('is closed once for a frame %s, with its code', async (_what, bytes, code) => {
    const { bytes: received, server, socket } = await openRaw();
    socket.write(bytes);
    await until(() => expect(closeCodeOf(received())).toBe(code));
    expect(server.told.filter((told) => told !== 'message-bytes')).toEqual(['closed']);
    socket.write(frame('late'));
    socket.end();
    await until(() => expect(socket.destroyed).toBe(true));
    expect(server.told).not.toContain('text late');
  });

  it('takes a message in fragments, with pings between them, up to its limit', async () => {
    const { server, socket, text } = await openRaw({ maxMessageBytes: 10 });
    socket.write(frame('12345', { isFinal: false }));
    socket.write(frame('ping', { opcode: 9 }));
    socket.write(frame('67890', { opcode: 0 }));
    await until(() => expect(server.told).toEqual(['pinged', 'text 1234567890']));
    socket.write(frame('12345', { isFinal: false }));
    socket.write(frame('678901', { opcode: 0, isFinal: false }));
    await until(() => expect(server.told.slice(2)).toEqual(['message-bytes', 'closed']));
    await until(() => expect(text()).toContain('A message may have 10 bytes.'));
  });

  it('is closed for a message in too many fragments: each takes memory, whatever it holds', async () => {
    const { bytes, server, socket } = await openRaw({ maxMessageBytes: 1024 });
    socket.write(frame('', { isFinal: false }));
    const empty = frame('', { opcode: 0, isFinal: false });
    socket.write(Buffer.concat(Array.from({ length: 100 }, () => empty)));
    await until(() => expect(server.told).toEqual(['closed']));
    await until(() => expect(closeCodeOf(bytes())).toBe(1008));
  });

  it('is closed as soon as its client says so, and its connection is ended though the client leaves it open', async () => {
    const { listening, server, socket } = await openRaw({}, { allowHalfOpen: true });
    socket.write(frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }));
    await until(() => expect(server.told).toEqual(['closed']));
    await until(() => expect(listening.connections()).toEqual({ http: 0, webSockets: 0 }));
  });

  it('takes no message once the server has closed it', async () => {
    const { bytes, server, socket } = await openRaw();
    server.socket.close(4000);
    await until(() => expect(closeCodeOf(bytes())).toBe(4000));
    socket.write(Buffer.concat([frame('late'), frame('late', { opcode: 9 })]));
    socket.write(frame(Buffer.from([0x0f, 0xa0]), { opcode: 8 }));
    await until(() => expect(socket.destroyed).toBe(true));
    expect(server.told).toEqual(['closed']);
  });

  it('is closed for a frame that comes in too many pieces', async () => {
    const { bytes, server, socket } = await openRaw({ maxMessageBytes: 1024 });
    socket.setNoDelay();
    socket.write(frame('x'.repeat(1024)).subarray(0, 8));
    const send = setInterval(() => socket.write('x'), 2);
    onTestFinished(() => clearInterval(send));
    await until(() => expect(server.told).toEqual(['closed']));
    await until(() => expect(closeCodeOf(bytes())).toBe(1008));
  });

  it('is closed as soon as its client ends the connection, whatever is unsent', async () => {
    const { server, socket } = await openRaw();
    socket.pause();
    server.socket.send('x'.repeat(20_000_000));
    expect(server.socket.bufferedBytes).toBeGreaterThan(1_000_000);
    socket.end();
    await until(() => expect(server.told).toEqual(['closed']));
    expect(server.socket.bufferedBytes).toBe(0);
  });

  it('is ended at once for more than 100 pongs in a second', async () => {
    const { closed, server, socket } = await openRaw();
    const pong = frame('', { opcode: 10 });
    socket.write(Buffer.concat(Array.from({ length: 101 }, () => pong)));
    await closed;
    expect(server.told).toEqual(['pings', 'closed']);
  });

  it('counts the memory of unsent frames, not only their bytes', async () => {
    const { server, socket } = await openRaw();
    socket.pause();
    server.socket.send('x'.repeat(20_000_000));
    const before = server.socket.bufferedBytes;
    for (let count = 0; count < 1000; count += 1) server.socket.send('PONG');
    expect(server.socket.bufferedBytes - before).toBeGreaterThan(500_000);
  });

  it('gives out bytes that keep no others in memory', async () => {
    const kept: Buffer[] = [];
    const accept = (socket: Owner['socket']) => ({
      ...owner(socket),
      inFlight: 0,
      message: (data: Buffer) => void kept.push(data),
    });
    const { socket } = await openRaw({ upgrade: () => accept });
    socket.write(Buffer.concat([frame('small', { opcode: 2 }), frame('x'.repeat(30_000), { opcode: 2 })]));
    await until(() => expect(kept).toHaveLength(2));
    expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual([5, expect.toSatisfy((n) => n < 60_000)]);
  });

  it('is pinged when it is quiet for 40 s, and ended when nothing comes for two more times', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const { closed, server, socket, text } = await openRaw();
    const pings = () => text().split('\uFFFD\0').length - 1;
    // What it has sent when it was opened.
    vi.advanceTimersByTime(40_000);
    vi.advanceTimersByTime(40_000);
    await until(() => expect(pings()).toBe(1));
    socket.write(frame('', { opcode: 10 }));
    // Until the pong is read.
    await new Promise((resolve) => setTimeout(resolve, 50));
    vi.advanceTimersByTime(120_000);
    await until(() => expect(pings()).toBe(3));
    expect(server.told).toEqual([]);
    vi.advanceTimersByTime(40_000);
    await closed;
    expect(server.told).toEqual(['closed']);
  });
});

describe('over TLS', () => {
  it('a WebSocket carries messages, and a request that opens none is answered on the same connection, twice', async () => {
    const tls = await certificateFiles('localhost');
    const owners: Owner[] = [];
    const accept = (socket: Owner['socket']) => {
      owners.push(owner(socket));
      return owners.at(-1) as Owner;
    };
    const upgrade: Service['upgrade'] = ({ path }) => (path === '/socket' ? accept : undefined);
    const listening = await listen({ handle: ({ path }) => ok(path), upgrade }, { tls });
    const { socket: connection } = await dialTls(listening);
    let text = '';
    connection.on('data', (chunk) => (text += String(chunk)));
    for (let count = 1; count <= 2; count += 1) {
      connection.write(`${handshake.replace('/socket', '/other')}\r\n`);
      await until(() => expect(text.split('\r\n\r\n/other')).toHaveLength(count + 1));
    }
    connection.write(Buffer.concat([Buffer.from(`${handshake}\r\n`), frame('hello')]));
    await until(() => expect(owners[0]?.told).toEqual(['text hello']));
    expect(listening.connections()).toEqual({ http: 0, webSockets: 1 });
    await listening.close();
    await until(() => expect(connection.destroyed).toBe(true));
  });
});
