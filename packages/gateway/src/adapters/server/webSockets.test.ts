import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import type { Service } from '../../http/service.ts';
import type { WebSocketPeer, SocketHandler } from '../../http/webSocket.ts';
import type { Listening } from './serveOptions.ts';
import { adapters, dial, ok, until, type Dialled } from './testing/dial.ts';
import { handshake, owner, type Owner } from './testing/sockets.ts';

function connectTo({ port }: Listening, protocols: string[] = []): WebSocket {
  const client = new WebSocket(`ws://127.0.0.1:${port}/socket`, protocols);
  onTestFinished(() => client.close());
  client.addEventListener('error', () => {});
  return client;
}

const closeOf = async (client: WebSocket) => {
  const [{ code, reason }] = (await once(client, 'close')) as [{ code: number; reason: string }];
  return [code, reason];
};

/** A client that speaks for itself, so that it can stop reading. */
async function raw(listening: Listening, head: string) {
  const dialled = await dial(listening);
  dialled.socket.write(`${head}\r\n`);
  return dialled;
}

describe.each(adapters)('on $adapter', ({ adapter, listen }) => {
  const isNode = adapter === 'node:http';
  /** How a socket is closed for a message that the parser rejects: that of uWebSockets.js sends no close frame. */
  const tooLargeCode = isNode ? 1009 : 1006;

  const serveSockets = (upgrade: Service['upgrade'], maxMessageBytes?: number) =>
    listen({
      handle: ({ path }) => ok(path),
      ...(upgrade && { upgrade }),
      ...(maxMessageBytes !== undefined && { maxMessageBytes }),
    });

  /** Opens a socket, and gives both its ends. */
  async function open(
    maxMessageBytes?: number,
  ): Promise<{ client: WebSocket; server: Owner; listening: Listening }> {
    const owners: Owner[] = [];
    const listening = await serveSockets(
      () => (socket) => {
        const made = owner(socket);
        owners.push(made);
        return made;
      },
      maxMessageBytes,
    );
    const client = connectTo(listening);
    await once(client, 'open');
    return { client, server: owners[0] as Owner, listening };
  }

  /** Whether a connection goes on as it should behind a rejected upgrade: that of node:http ends. */
  async function goesOn({ socket, text }: Dialled): Promise<boolean> {
    socket.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
    const hasResponse = () => text().includes('\r\n\r\n/next');
    await until(() => expect(hasResponse() || socket.destroyed).toBe(true));
    return hasResponse() !== isNode;
  }

  describe('a WebSocket', () => {
    it('carries texts and bytes both ways, at any time', async () => {
      const { client, server } = await open();
      client.binaryType = 'arraybuffer';
      const received: unknown[] = [];
      client.addEventListener('message', ({ data }) => received.push(data));
      client.send('ü');
      client.send(new Uint8Array([104, 105]));
      await until(() => expect(server.told).toEqual(['text ü', 'bytes hi']));
      server.socket.send('é');
      server.socket.send(new Uint8Array([1, 2]));
      await until(() => expect(received).toEqual(['é', new Uint8Array([1, 2]).buffer]));
    });

    it.each<[what: string, close: (socket: WebSocketPeer) => void, expected: unknown[]]>([
      ['with a code and a reason', (socket) => socket.close(4000, 'enough'), [4000, 'enough']],
      ['without a code', (socket) => socket.close(), [1005, '']],
      ['at once', (socket) => socket.terminate(), [1006, '']],
    ])('is closed %s, once, and takes nothing more', async (_what, close, expected) => {
      const { client, server } = await open();
      const closed = closeOf(client);
      close(server.socket);
      expect(server.told).toEqual(['closed']);
      server.socket.send('late');
      server.socket.close(1000);
      server.socket.terminate();
      expect(server.socket.bufferedBytes).toBe(0);
      expect(await closed).toEqual(expected);
      expect(server.told).toEqual(['closed']);
    });

    it('tells its owner when its client goes away, and its request too', async () => {
      let request: HttpRequest | undefined;
      const owners: Owner[] = [];
      const listening = await serveSockets((received) => {
        request = received;
        return (socket) => {
          owners.push(owner(socket));
          return owners[0] as Owner;
        };
      });
      const client = connectTo(listening);
      await once(client, 'open');
      expect(request?.header('upgrade')).toBe('websocket');
      const { signal } = request as HttpRequest;
      client.close();
      await until(() => expect(owners[0]?.told).toEqual(['closed']));
      expect(signal.aborted).toBe(true);
    });

    it('says how much waits to be sent, loses none of it, and tells when it is taken', async () => {
      const owners: Owner[] = [];
      const listening = await serveSockets(() => (socket) => {
        owners.push(owner(socket));
        return owners[0] as Owner;
      });
      const { socket, text } = await raw(listening, handshake);
      await until(() => expect(text()).toContain('101'));
      socket.pause();
      const server = owners[0] as Owner;
      for (let n = 0; n < 200; n += 1) server.socket.send('x'.repeat(100_000));
      expect(server.socket.bufferedBytes).toBeGreaterThan(5_000_000);
      expect(server.told).toEqual([]);
      socket.resume();
      await until(() => expect(server.socket.bufferedBytes).toBe(0));
      expect(server.told).toContain('drained');
      await until(() => expect(text().length).toBeGreaterThan(200 * 100_000));
    });

    it.each([
      ['too large', 1001, 1009],
      ['far too large', 65_537, tooLargeCode],
    ])('is closed for a message that is %s, and its owner is told why', async (_what, bytes, code) => {
      const { client, server } = await open(1000);
      client.send('x'.repeat(1000));
      await until(() => expect(server.told).toHaveLength(1));
      const closed = closeOf(client);
      client.send('x'.repeat(bytes));
      expect((await closed)[0]).toBe(code);
      expect(server.told.slice(1).toSorted()).toEqual(['closed', 'message-bytes']);
    });

    it.each([
      [false, 500_000, 'taken'],
      [false, 1_000_001, `closed with ${tooLargeCode}`],
      [true, 2000, 'taken'],
      [true, 2001, `closed with ${tooLargeCode}`],
    ])(
      'that is let in without a credential (%s) has a limit of its own: a message of %i bytes is %s',
      async (isUnauthenticated, bytes, expected) => {
        const taken = Promise.withResolvers<string>();
        const accept = (socket: WebSocketPeer): SocketHandler => ({
          ...owner(socket),
          inFlight: 0,
          message: ({ byteLength }) => taken.resolve(byteLength === bytes ? 'taken' : 'cut'),
        });
        const listening = await listen({
          handle: () => ok(),
          upgrade: () => Object.assign(accept, { isUnauthenticated }),
          maxMessageBytes: 1_000_000,
          maxUnauthenticatedBytes: 2000,
        });
        const client = connectTo(listening);
        await once(client, 'open');
        const closed = closeOf(client);
        client.send('x'.repeat(bytes));
        expect(await Promise.race([taken.promise, closed.then(([code]) => `closed with ${code}`)])).toBe(
          expected,
        );
      },
    );

    it('is ended at once for more than 100 pings in a second', async () => {
      const owners: Owner[] = [];
      const listening = await serveSockets(() => (socket) => {
        owners.push(owner(socket));
        return owners[0] as Owner;
      });
      const { closed, socket, text } = await raw(listening, handshake);
      await until(() => expect(text()).toContain('101'));
      // An empty ping, under a mask of zeros.
      const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
      socket.write(Buffer.concat(Array.from({ length: 100 }, () => ping)));
      await until(() => expect(text()).toContain('\uFFFD\0'.repeat(100)));
      socket.write(ping);
      await closed;
      expect(owners[0]?.told.slice(-2)).toEqual(['pings', 'closed']);
    });

    it('is closed by a client with the reason "Received too big message": its owner is told of no limit', async () => {
      const { client, server } = await open();
      client.close(4000, 'Received too big message');
      await until(() => expect(server.told).toContain('closed'));
      expect(server.told).toEqual(['closed']);
    });

    it('takes the first protocol that its client offers, as the package ws does', async () => {
      const listening = await serveSockets(() => owner);
      const client = connectTo(listening, ['first', 'second']);
      await once(client, 'open');
      expect(client.protocol).toBe('first');
    });

    it('is closed in order where the server stops', async () => {
      const { client, listening } = await open();
      const closed = closeOf(client);
      expect(await listening.close()).toBe(0);
      expect((await closed)[0]).toBe(1001);
    });
  });

  describe('a WebSocket whose calls have not ended when it is closed', () => {
    it('makes room for another, and a stop waits for them', async () => {
      const ended = Promise.withResolvers<void>();
      const closed: string[] = [];
      const endless = (socket: WebSocketPeer): SocketHandler => ({
        ...owner(socket),
        closed: () => {
          closed.push('closed');
          return ended.promise;
        },
      });
      const listening = await listen({ handle: () => ok(), upgrade: () => endless }, { maxConnections: 2 });
      for (let count = 1; count <= 3; count += 1) {
        const client = connectTo(listening);
        await once(client, 'open');
        client.close();
        await until(() => expect(closed).toHaveLength(count));
      }
      expect(listening.inFlight()).toBe(3);
      const closing = listening.close({ graceMs: 0, deadlineMs: 5000 });
      const early = Promise.race([closing, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))]);
      expect(await early).toBe('waits');
      ended.resolve();
      expect(await closing).toBe(0);
    });
  });

  describe('a WebSocket that is open', () => {
    it('counts to maxConnections: a connection beyond them is answered 503', async () => {
      const listening = await listen({ handle: () => ok(), upgrade: () => owner }, { maxConnections: 1 });
      const client = connectTo(listening);
      await once(client, 'open');
      const { closed, text } = await dial(listening);
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 503 /);
      client.close();
      await until(() => expect(listening.connections().webSockets).toBe(0));
      const { socket, text: next } = await dial(listening);
      socket.write('GET /next HTTP/1.1\r\nHost: x\r\n\r\n');
      await until(() => expect(next()).toMatch(/^HTTP\/1\.1 200 /));
    });
  });

  describe('WebSockets that the server closes in order, and whose clients leave their connections open', () => {
    /** Opens sockets that never end by themselves. */
    async function openHalf(count: number, maxConnections?: number) {
      const owners: Owner[] = [];
      const accept = (socket: WebSocketPeer) => {
        owners.push(owner(socket));
        return owners.at(-1) as Owner;
      };
      const listening = await listen(
        { handle: () => ok(), upgrade: () => accept },
        maxConnections === undefined ? {} : { maxConnections },
      );
      const clients: Dialled[] = [];
      for (let opened = 1; opened <= count; opened += 1) {
        const client = await dial(listening, { allowHalfOpen: true });
        client.socket.write(`${handshake}\r\n`);
        await until(() => expect(owners).toHaveLength(opened));
        clients.push(client);
      }
      return { clients, listening, owners };
    }

    /**
     * Waits until the server has closed its end of a connection: what a client still writes is answered with a reset.
     */
    const resetOf = ({ socket }: Dialled) =>
      until(() => {
        if (socket.readableEnded) socket.write('late');
        expect(socket.destroyed).toBe(true);
      });

    it('are at most 100 within 18 s: one more is ended at once, without a close frame', async () => {
      const { clients, owners } = await openHalf(102);
      for (const { socket } of owners) socket.close(1008, 'over');
      await Promise.all(clients.slice(100).map(resetOf));
      for (const { text } of clients.slice(100)) expect(text()).not.toContain('over');
      for (const { text } of clients.slice(0, 100)) await until(() => expect(text()).toContain('over'));
    });

    it('are at most a quarter of maxConnections, and count to it as open ones do', async () => {
      const { clients, listening, owners } = await openHalf(8, 8);
      for (const { socket } of owners) socket.close(1008, 'over');
      await Promise.all(clients.slice(2).map(resetOf));
      expect(listening.connections().webSockets).toBe(0);
      const more: Dialled[] = [];
      for (let count = 0; count < 6; count += 1) more.push(await dial(listening));
      const { closed, text } = await dial(listening);
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 503 /);
      for (const served of more) expect(served.text()).toBe('');
    });

    it('are all closed with 1001 where the server stops', async () => {
      const { clients, listening } = await openHalf(102);
      await listening.close({ graceMs: 0 });
      // The status code of the close frame, 1001.
      for (const { text } of clients) await until(() => expect(text()).toContain('\u0003'));
    });
  });

  describe('what WebSockets have not taken, all together', () => {
    async function serveBounded(maxUnsentSocketBytes: number) {
      const owners: Owner[] = [];
      const accept = (socket: WebSocketPeer) => {
        owners.push(owner(socket));
        return owners.at(-1) as Owner;
      };
      const listening = await listen({ handle: () => ok(), upgrade: () => accept }, { maxUnsentSocketBytes });
      return { listening, owners };
    }

    /** Opens sockets that read nothing, and sends each so many bytes. */
    async function unread(listening: Listening, owners: Owner[], sizes: readonly number[]) {
      for (const [index, size] of sizes.entries()) {
        const { socket, text } = await raw(listening, handshake);
        await until(() => expect(text()).toContain('101'));
        socket.pause();
        owners[index]?.socket.send('x'.repeat(size));
      }
    }

    it('has a bound: those that have the most unsent are ended, and the others go on', async () => {
      const { listening, owners } = await serveBounded(20_000_000);
      // The kernel takes some megabytes of each.
      await unread(listening, owners, [10_000_000, 30_000_000, 9_000_000]);
      expect(owners.map(({ told }) => told)).toEqual([[], ['unsent-bytes', 'closed'], []]);
      expect(owners[1]?.socket.bufferedBytes).toBe(0);
      expect(owners[2]?.socket.bufferedBytes).toBeGreaterThan(1_000_000);
    });

    it('ends a socket at once that would close in order behind more than a quarter of the bound', async () => {
      const { listening, owners } = await serveBounded(40_000_000);
      const { closed, socket, text } = await raw(listening, handshake);
      await until(() => expect(text()).toContain('101'));
      socket.pause();
      owners[0]?.socket.send('x'.repeat(25_000_000));
      owners[0]?.socket.close(1013, 'late');
      socket.resume();
      await closed;
      expect(text()).not.toContain('late');
      expect(text().length).toBeLessThan(15_000_000);
    });
  });

  describe('a request to open a WebSocket', () => {
    it.each(['at once', 'later'])('may be answered otherwise, %s', async (when) => {
      const refusal = { status: 401, headers: [['x-why', 'because']] as const, body: 'no' };
      const listening = await serveSockets(() => (when === 'later' ? Promise.resolve(refusal) : refusal));
      const dialled = await raw(listening, handshake);
      await until(() => expect(dialled.text()).toMatch(/^HTTP\/1\.1 401 .*x-why: because.*\r\n\r\nno$/s));
      expect(await goesOn(dialled)).toBe(true);
    });

    it.each<[how: string, upgrade: () => never | Promise<never>]>([
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
      ['rejects', () => Promise.reject(new Error('no'))],
    ])('is 500, and the process lives, where its handler %s', async (_how, upgrade) => {
      const dialled = await raw(await serveSockets(upgrade), handshake);
      await until(() => expect(dialled.text()).toMatch(/^HTTP\/1\.1 500 /));
      expect(await goesOn(dialled)).toBe(true);
    });

    it.each<[what: string, upgrade: Service['upgrade']]>([
      ['where the gateway has no socket', () => undefined],
      ['on a host that serves none', undefined],
    ])('is one like any other %s', async (_what, upgrade) => {
      const { text } = await raw(await serveSockets(upgrade), handshake);
      await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n\/socket$/s));
    });

    it.each([
      ['for another protocol', handshake.replace('websocket', 'h2c')],
      ['whose connection is to be closed', handshake.replace('Connection: Upgrade', 'Connection: close')],
      [
        'whose connection is to be upgraded and closed',
        handshake.replace('Connection: Upgrade', 'Connection: upgrade, close'),
      ],
    ])('%s is one like any other', async (_what, head) => {
      const { text } = await raw(await serveSockets(() => owner), head);
      await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n\/socket$/s));
    });

    it('that names no protocol to upgrade to is shed under load as any other request is', async () => {
      const listening = await listen({
        handle: () => ok('handled'),
        shed: () => ({ ...ok('shed'), status: 503 }),
        upgrade: () => owner,
      });
      const { text } = await raw(listening, handshake.replace('Upgrade: websocket\r\n', ''));
      await until(() => expect(text()).toMatch(/\r\n\r\n(?:handled|shed)$/));
      expect(text()).toMatch(/^HTTP\/1\.1 503 .*\r\n\r\nshed$/s);
    });

    it('may name it in another case, and other things of its connection', async () => {
      const head = handshake.replace('websocket', 'WebSocket').replace(': Upgrade', ': keep-alive, upgrade');
      const { text } = await raw(await serveSockets(() => owner), head);
      await until(() => expect(text()).toMatch(/^HTTP\/1\.1 101 /));
    });

    it('whose client goes away while it is decided opens nothing', async () => {
      const decided = Promise.withResolvers<(socket: WebSocketPeer) => SocketHandler>();
      let request: HttpRequest | undefined;
      const accept = vi.fn<typeof owner>();
      const listening = await serveSockets((received) => {
        request = received;
        return decided.promise;
      });
      const { socket } = await raw(listening, handshake);
      await until(() => expect(request).toBeDefined());
      expect(listening.inFlight()).toBe(1);
      socket.destroy();
      await until(() => expect(request?.signal.aborted).toBe(true));
      decided.resolve(accept);
      await until(() => expect(listening.inFlight()).toBe(0));
      expect(accept).not.toHaveBeenCalled();
    });

    it('is rejected while the server stops', async () => {
      const finish = Promise.withResolvers<void>();
      const listening = await serveSockets((request) =>
        finish.promise.then(() => (request.header('x-first') ? { status: 200, headers: [] } : owner)),
      );
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
});
