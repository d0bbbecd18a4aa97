import { once } from 'node:events';
import { frame } from '@petstore/testing/webSocketFrames';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import type { Service, Upgrade } from '../../http/service.ts';
import type { WebSocketPeer, SocketHandler } from '../../http/webSocket.ts';
import { OpenSockets } from './openSockets.ts';
import type { Listening, ServeOptions } from './serveOptions.ts';
import { adapters, dial, get, ok, until, type TestConnection } from '../testing/dial.ts';
import {
  handshake,
  openRaw,
  recordingAcceptor,
  recordingHandler,
  type RecordingHandler,
} from '../testing/sockets.ts';

async function connectTo({ port }: Listening, protocols: string[] = []): Promise<WebSocket> {
  const client = new WebSocket(`ws://127.0.0.1:${port}/socket`, protocols);
  onTestFinished(() => client.close());
  client.addEventListener('error', () => {});
  await once(client, 'open');
  return client;
}

const closeOf = async (client: WebSocket) => {
  const [{ code, reason }] = (await once(client, 'close')) as [{ code: number; reason: string }];
  return [code, reason];
};

/** Opens a connection without a WebSocket client, so that the test can stop reading. */
const raw = (listening: Listening, head: string) => dial(listening, `${head}\r\n`);

describe.each(adapters)('on $adapter', ({ adapter, listen }) => {
  const isNode = adapter === 'node:http';
  /** Close code for a message that the parser rejects: uWebSockets.js sends no close frame. */
  const tooLargeCode = isNode ? 1009 : 1006;

  const serveSockets = (service: Partial<Service>, options: ServeOptions = {}) =>
    listen({ handle: ({ path }) => ok(path), ...service }, options);

  async function serveRecorded(options: ServeOptions = {}, service: Partial<Service> = {}) {
    const { accept, handlers } = recordingAcceptor();
    return { handlers, listening: await serveSockets({ upgrade: () => accept, ...service }, options) };
  }

  async function open(service: Partial<Service> = {}) {
    const { handlers, listening } = await serveRecorded({}, service);
    const client = await connectTo(listening);
    return { client, server: handlers[0] as RecordingHandler };
  }

  /** Opens a WebSocket whose client is a bare connection, and returns both ends. */
  async function serveRaw(options: ServeOptions = {}) {
    const { handlers, listening } = await serveRecorded(options);
    return openRaw(handlers, listening);
  }

  /** Whether a connection serves a request after a rejected upgrade; on node:http, whether it ends instead. */
  async function isServedCorrectly({ socket, text }: TestConnection): Promise<boolean> {
    socket.write(get('/next'));
    const hasResponse = () => text().includes('\r\n\r\n/next');
    await until(() => expect(hasResponse() || socket.destroyed).toBe(true));
    return hasResponse() !== isNode;
  }

  it.each<[what: string, close: (socket: WebSocketPeer) => void, expected: unknown[]]>([
    ['with a code and a reason', (socket) => socket.close(4000, 'enough'), [4000, 'enough']],
    ['without a code', (socket) => socket.close(), [1005, '']],
    ['at once', (socket) => socket.terminate(), [1006, '']],
  ])(
    'a WebSocket that the server closes %s calls closed once and sends nothing afterwards',
    async (_what, close, expected) => {
      const { client, server } = await open();
      const closed = closeOf(client);
      close(server.socket);
      expect(server.events).toEqual(['closed']);
      server.socket.send('late');
      server.socket.close(1000);
      server.socket.terminate();
      expect(server.socket.bufferedBytes).toBe(0);
      expect(await closed).toEqual(expected);
      expect(server.events).toEqual(['closed']);
    },
  );

  it('a WebSocket whose client closes it calls closed and aborts the signal of its request', async () => {
    let request: HttpRequest | undefined;
    const { accept, handlers } = recordingAcceptor();
    const upgrade = (received: HttpRequest) => {
      request = received;
      return accept;
    };
    const listening = await serveSockets({ upgrade });
    const client = await connectTo(listening);
    expect(request?.header('upgrade')).toBe('websocket');
    const { signal } = request as HttpRequest;
    client.close();
    await until(() => expect(handlers[0]?.events).toEqual(['closed']));
    expect(signal.aborted).toBe(true);
  });

  it('bufferedBytes counts unsent bytes, and drained is called when they are sent', async () => {
    const { server, socket, text } = await serveRaw();
    socket.pause();
    for (let n = 0; n < 200; n += 1) server.socket.send('x'.repeat(100_000));
    expect(server.socket.bufferedBytes).toBeGreaterThan(5_000_000);
    expect(server.events).toEqual([]);
    socket.resume();
    await until(() => expect(server.socket.bufferedBytes).toBe(0));
    expect(server.events).toContain('drained');
    await until(() => expect(text().length).toBeGreaterThan(200 * 100_000));
  });

  it.each([
    ['too large', 1001, 1009],
    ['far too large', 65_537, tooLargeCode],
  ])(
    'a WebSocket is closed for a message that is %s, and limited is called with message-bytes',
    async (_what, bytes, code) => {
      const { client, server } = await open({ maxMessageSize: 1000 });
      client.send('x'.repeat(1000));
      await until(() => expect(server.events).toHaveLength(1));
      const closed = closeOf(client);
      client.send('x'.repeat(bytes));
      expect((await closed)[0]).toBe(code);
      expect(server.events.slice(1).toSorted()).toEqual(['closed', 'message-bytes']);
    },
  );

  it('a WebSocket is terminated for more than 100 pings in a second', async () => {
    const { closed, server, socket, text } = await serveRaw();
    const ping = frame('', { opcode: 9 });
    const write = (pings: number) => socket.write(Buffer.concat(Array.from({ length: pings }, () => ping)));
    write(100);
    await until(() => expect(text()).toContain('\uFFFD\0'.repeat(100)));
    // On a busy machine that second has passed, and another may begin amid these pings.
    write(202);
    await closed;
    expect(server.events.slice(-2)).toEqual(['pings', 'closed']);
  });

  it('a client that closes with the reason "Received too big message" is not reported for a limit', async () => {
    const { client, server } = await open();
    client.close(4000, 'Received too big message');
    await until(() => expect(server.events).toContain('closed'));
    expect(server.events).toEqual(['closed']);
  });

  it('the first subprotocol that the client offers is accepted, as in the package ws', async () => {
    const listening = await serveSockets({ upgrade: () => recordingHandler });
    expect((await connectTo(listening, ['first', 'second'])).protocol).toBe('first');
  });

  it('a closed WebSocket with calls in flight does not count as a connection, and close waits for its calls', async () => {
    const ended = Promise.withResolvers<void>();
    const closed: string[] = [];
    const acceptEndless = (socket: WebSocketPeer): SocketHandler => ({
      ...recordingHandler(socket),
      closed: () => {
        closed.push('closed');
        return ended.promise;
      },
    });
    const listening = await serveSockets({ upgrade: () => acceptEndless }, { maxConnections: 2 });
    for (let count = 1; count <= 3; count += 1) {
      const client = await connectTo(listening);
      client.close();
      await until(() => expect(closed).toHaveLength(count));
    }
    expect(listening.inFlight()).toBe(3);
    const closing = listening.close({ graceMs: 0, timeoutMs: 5000 });
    const early = Promise.race([closing, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))]);
    expect(await early).toBe('waits');
    ended.resolve();
    expect(await closing).toBe(0);
  });

  it('an open WebSocket counts as a connection for maxConnections', async () => {
    const { listening } = await serveRecorded({ maxConnections: 1 });
    const client = await connectTo(listening);
    const { closed, text } = await dial(listening);
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 503 /);
    client.close();
    await until(() => expect(listening.connections().webSockets).toBe(0));
    const { text: next } = await dial(listening, get('/next'));
    await until(() => expect(next()).toMatch(/^HTTP\/1\.1 200 /));
  });

  /** Opens WebSockets whose clients never end the connection. */
  async function openHalf(count: number, maxConnections = Infinity) {
    const { handlers, listening } = await serveRecorded({ maxConnections });
    const clients: TestConnection[] = [];
    for (let opened = 1; opened <= count; opened += 1) {
      const client = await dial(listening, `${handshake}\r\n`, { allowHalfOpen: true });
      await until(() => expect(handlers).toHaveLength(opened));
      clients.push(client);
    }
    return { clients, listening, handlers };
  }

  /** Waits until the server has closed its end of a connection, so that further bytes of the client cause a reset. */
  const resetOf = ({ socket }: TestConnection) =>
    until(() => {
      if (socket.readableEnded) socket.write('late');
      expect(socket.destroyed).toBe(true);
    });

  it('the 101st WebSocket closed within 18 s is terminated without a close frame', async () => {
    const { clients, handlers } = await openHalf(102);
    for (const { socket } of handlers) socket.close(1008, 'over');
    await Promise.all(clients.slice(100).map(resetOf));
    for (const { text } of clients.slice(100)) expect(text()).not.toContain('over');
    for (const { text } of clients.slice(0, 100)) await until(() => expect(text()).toContain('over'));
  });

  it('closing WebSockets take at most a quarter of maxConnections, and count as connections', async () => {
    const { clients, listening, handlers } = await openHalf(8, 8);
    for (const { socket } of handlers) socket.close(1008, 'over');
    await Promise.all(clients.slice(2).map(resetOf));
    expect(listening.connections().webSockets).toBe(0);
    const more: TestConnection[] = [];
    for (let count = 0; count < 6; count += 1) more.push(await dial(listening));
    const { closed, text } = await dial(listening);
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 503 /);
    for (const connection of more) expect(connection.text()).toBe('');
  });

  it('all WebSockets are closed with 1001 when the server stops', async () => {
    const { clients, listening } = await openHalf(102);
    await listening.close({ graceMs: 0 });
    // The status code of the close frame, 1001.
    for (const { text } of clients) await until(() => expect(text()).toContain('\u0003'));
  });

  /** Opens WebSockets whose clients do not read, and sends a number of bytes to each. */
  async function unread(listening: Listening, handlers: RecordingHandler[], sizes: readonly number[]) {
    for (const [index, size] of sizes.entries()) {
      const { socket, text } = await raw(listening, handshake);
      await until(() => expect(text()).toContain('101'));
      socket.pause();
      handlers[index]?.socket.send('x'.repeat(size));
    }
  }

  it('a tenth of maxUnsentSize terminates the WebSockets with the most unsent bytes', async () => {
    const { listening, handlers } = await serveRecorded({ maxUnsentSize: 200_000_000 });
    // The kernel takes some megabytes of each socket.
    await unread(listening, handlers, [10_000_000, 30_000_000, 9_000_000]);
    expect(handlers.map(({ events }) => events)).toEqual([[], ['unsent-bytes', 'closed'], []]);
    expect(handlers[1]?.socket.bufferedBytes).toBe(0);
    expect(handlers[2]?.socket.bufferedBytes).toBeGreaterThan(1_000_000);
  });

  it('a WebSocket with more unsent bytes than a quarter of what all may have is terminated instead of closed', async () => {
    const { closed, server, socket, text } = await serveRaw({ maxUnsentSize: 400_000_000 });
    socket.pause();
    server.socket.send('x'.repeat(25_000_000));
    server.socket.close(1013, 'late');
    socket.resume();
    await closed;
    expect(text()).not.toContain('late');
    expect(text().length).toBeLessThan(15_000_000);
  });

  const rejection = { status: 401, headers: [['x-why', 'because']] as const, body: 'no' };
  const rejected = /^HTTP\/1\.1 401 .*x-why: because.*\r\n\r\nno$/s;
  const failing = () => {
    throw new Error('no');
  };

  it.each<[how: string, upgrade: Upgrade, response: RegExp]>([
    ['with a response', () => rejection, rejected],
    ['with a response later', async () => rejection, rejected],
    ['with 500 by a handler that throws', failing, /^HTTP\/1\.1 500 /],
    ['with 500 by a handler that rejects', async () => failing(), /^HTTP\/1\.1 500 /],
  ])('an upgrade is rejected %s', async (_how, upgrade, response) => {
    const connection = await raw(await serveSockets({ upgrade }), handshake);
    await until(() => expect(connection.text()).toMatch(response));
    expect(await isServedCorrectly(connection)).toBe(true);
  });

  const withConnection = (value: string) => handshake.replace('Connection: Upgrade', `Connection: ${value}`);

  it.each<[what: string, head: string, service?: Partial<Service>]>([
    ['to a path without WebSockets', handshake, { upgrade: () => undefined }],
    ['to a service without WebSockets', handshake, {}],
    ['for another protocol', handshake.replace('websocket', 'h2c')],
    ['for another protocol first', handshake.replace('Upgrade: w', 'Upgrade: h2c\r\nUpgrade: w')],
    ['with Connection: close', withConnection('close')],
    ['with Connection: upgrade, close', withConnection('upgrade, close')],
  ])('an upgrade request %s is handled as a normal request', async (_what, head, service) => {
    const { text } = await raw(await serveSockets(service ?? { upgrade: () => recordingHandler }), head);
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n\/socket$/s));
  });

  it('a request without Upgrade is shed under load, as any other request', async () => {
    const shed = () => ({ ...ok('shed'), status: 503 });
    const listening = await serveSockets({ shed, upgrade: () => recordingHandler });
    const { text } = await raw(listening, handshake.replace('Upgrade: websocket\r\n', ''));
    await until(() => expect(text()).toMatch(/^HTTP\/1\.1 503 .*\r\n\r\nshed$/s));
  });

  it.each(['destroy', 'end'] as const)(
    'an upgrade whose client disconnects by %s before the decision opens no WebSocket',
    async (how) => {
      const decision = Promise.withResolvers<(socket: WebSocketPeer) => SocketHandler>();
      let request: HttpRequest | undefined;
      const opened = vi.fn<typeof recordingHandler>();
      const upgrade = (received: HttpRequest) => {
        request = received;
        return decision.promise;
      };
      const listening = await serveSockets({ upgrade });
      const { socket } = await raw(listening, handshake);
      await until(() => expect(request).toBeDefined());
      expect(listening.inFlight()).toBe(1);
      socket[how]();
      await until(() => expect(request?.signal.aborted).toBe(true));
      decision.resolve(opened);
      await until(() => expect(listening.inFlight()).toBe(0));
      expect(opened).not.toHaveBeenCalled();
    },
  );

  it('an upgrade gets 503 while the server stops', async () => {
    const finish = Promise.withResolvers<void>();
    const upgrade: Upgrade = (request) =>
      finish.promise.then(() => (request.header('x-first') ? ok() : recordingHandler));
    const listening = await serveSockets({ upgrade });
    const first = await raw(listening, `${handshake}X-First: yes\r\n`);
    const second = await raw(listening, handshake);
    await until(() => expect(listening.inFlight()).toBe(2));
    const closing = listening.close();
    finish.resolve();
    expect(await closing).toBe(0);
    await until(() => expect(second.text()).toMatch(/^HTTP\/1\.1 503 .*SERVICE_UNAVAILABLE/s));
    expect(first.text()).toMatch(/^HTTP\/1\.1 503 /);
  });
});

it('OpenSockets reserves a quarter of the bytes of WebSockets for closing sockets, and the same bytes again once they have ended', () => {
  const sockets = new OpenSockets({ handle: () => ok() }, 4000);
  for (let round = 0; round < 3; round += 1) {
    const releases = [sockets.reserveClosing(60), sockets.reserveClosing(40)];
    expect(sockets.closingSockets).toBe(2);
    expect(sockets.reserveClosing(1)).toBeUndefined();
    for (const release of releases) release?.();
    expect(sockets.closingSockets).toBe(0);
  }
});
