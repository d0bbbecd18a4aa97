import { wsLink } from '@trpc/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../../servers.ts';
import { clientOf, wsClient, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** Opens a bare WebSocket and records the messages it receives. */
async function open(endpoints: Endpoints, query = '') {
  needs('WebSockets');
  const socket = new WebSocket(`${endpoints.ws}${query}`);
  onTestFinished(() => socket.terminate());
  const messages: string[] = [];
  socket.on('message', (data) => messages.push((data as Buffer).toString()));
  const closed = new Promise<Closed>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return { socket, messages, closed };
}

const parsed = (message: string | undefined) => JSON.parse(message ?? '') as unknown;

/** Features of WebSockets: connectionParams, keep-alive in both directions, reconnection, close codes. */
export function webSocket(start: Start): void {
  describe('WebSocket', () => {
    it('createContext is called once per WebSocket connection, with an info of type unknown', async () => {
      const { endpoints, contexts } = await start();
      const trpc = clientOf(wsLink({ client: wsClient(endpoints) }));
      await trpc.hello.query();
      await trpc.hello.query();
      expect(contexts).toEqual([
        {
          batch: false,
          calls: [],
          type: 'unknown',
          accept: null,
          connectionParams: null,
          path: null,
          hasSignal: true,
        },
      ]);
    });

    it('a server that has just started serves 40 WebSockets that open at the same time', async () => {
      const { endpoints } = await start();
      const opened = await Promise.all(Array.from({ length: 40 }, () => open(endpoints)));
      for (const { socket } of opened) socket.send('{"id":1,"method":"query","params":{"path":"hello"}}');
      await vi.waitFor(() => expect(opened.every(({ messages }) => messages.length === 1)).toBe(true));
    });

    it('connectionParams are the first message of each WebSocket connection, evaluated again on reconnect', async () => {
      const { endpoints, contexts, server } = await start();
      let connections = 0;
      const client = wsClient(endpoints, {
        connectionParams: async () => ({ token: `secret ${(connections += 1)}` }),
      });
      const trpc = clientOf(wsLink({ client }));
      expect(await trpc.seen.query()).toMatchObject({ connectionParams: { token: 'secret 1' } });
      server.broadcastReconnect();
      await vi.waitFor(() => expect(contexts).toHaveLength(2));
      expect(contexts[1]).toMatchObject({ connectionParams: { token: 'secret 2' } });
    });

    it.each([
      ['not JSON', '{'],
      ['not an object', '5'],
      ['not strings', '{"method":"connectionParams","data":{"a":1}}'],
    ])('connectionParams that are %s close the WebSocket after a PARSE_ERROR', async (_name, message) => {
      const { endpoints, errors } = await start();
      const { socket, messages, closed } = await open(endpoints, '?connectionParams=1');
      socket.send(message);
      const { code } = await closed;
      expect(messages.map(parsed)).toMatchObject([{ id: null, error: { data: { code: 'PARSE_ERROR' } } }]);
      expect(code).toBe(1005);
      expect(errors).toEqual(['- PARSE_ERROR']);
    });

    it('an error thrown by createContext is sent with id null, then the WebSocket is closed', async () => {
      const { endpoints } = await start({
        admit: () => {
          throw new Error('Not you');
        },
      });
      const { messages, closed } = await open(endpoints);
      const { code } = await closed;
      expect(parsed(messages[0])).toMatchObject({
        id: null,
        error: { message: 'Not you', data: { code: 'INTERNAL_SERVER_ERROR' } },
      });
      expect(code).toBe(1005);
    });

    it('a client’s PING message is answered with PONG', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send('PING');
      socket.send('PONG');
      socket.send('PING');
      await vi.waitFor(() => expect(messages).toEqual(['PONG', 'PONG']));
    });

    it('a client with keepAlive stays connected to a server that answers its pings', async () => {
      const { endpoints, contexts } = await start();
      const client = wsClient(endpoints, {
        keepAlive: { enabled: true, intervalMs: 15, pongTimeoutMs: 500 },
      });
      const trpc = clientOf(wsLink({ client }));
      const seen = collect(trpc.watch, undefined);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(seen.events.filter((event) => event === 'connecting').length).toBeLessThanOrEqual(1);
      expect(contexts).toHaveLength(1);
    });

    it('the server’s keepAlive sends PING after a silence and disconnects a client that does not answer', async () => {
      const { endpoints, calls } = await start({ keepAlive: { enabled: true, pingMs: 40, pongWaitMs: 60 } });
      const { socket, messages, closed } = await open(endpoints);
      socket.send('{"id":1,"method":"subscription","params":{"path":"watch"}}');
      const { code } = await closed;
      expect(messages.at(-1)).toBe('PING');
      expect(code).toBe(1006);
      await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
    });

    it('the server’s keepAlive keeps a client connected that answers PING', async () => {
      const { endpoints, contexts } = await start({
        keepAlive: { enabled: true, pingMs: 20, pongWaitMs: 60 },
      });
      const trpc = clientOf(wsLink({ client: wsClient(endpoints) }));
      collect(trpc.watch, undefined);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await trpc.hello.query()).toBe('Hello, world!');
      expect(contexts).toHaveLength(1);
    });

    it('the server’s keepAlive sends no PING to a client that keeps sending calls', async () => {
      const { endpoints } = await start({ keepAlive: { enabled: true, pingMs: 250, pongWaitMs: 1000 } });
      const { socket, messages } = await open(endpoints);
      for (let id = 1; id <= 20; id += 1) {
        socket.send(`{"id":${id},"method":"query","params":{"path":"hello"}}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      expect(messages).toHaveLength(20);
      expect(messages).not.toContain('PING');
    });

    it('broadcastReconnect makes clients reconnect and resume their subscriptions', async () => {
      const { endpoints, contexts, server } = await start();
      const trpc = clientOf(wsLink({ client: wsClient(endpoints) }));
      const seen = collect(trpc.numbered, { to: 30, everyMs: 10 });
      await vi.waitFor(() => expect(seen.data.length).toBeGreaterThan(3));
      server.broadcastReconnect();
      await seen.ended;
      expect(seen.data.map(({ data }) => data.n)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
      expect(contexts).toHaveLength(2);
    });

    it('lastEventId in a subscription message resumes after that event', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send(
        '{"id":1,"method":"subscription","params":{"path":"numbered","input":{"to":5},"lastEventId":"4"}}',
      );
      await vi.waitFor(() => expect(messages).toHaveLength(3));
      expect(parsed(messages[1])).toEqual({
        id: 1,
        result: { type: 'data', id: '5', data: { id: '5', data: { n: 5 } } },
      });
    });

    it('a lazy client closes its idle WebSocket and opens another for the next call', async () => {
      const { endpoints, contexts } = await start();
      const onClose = vi.fn<() => void>();
      const client = wsClient(endpoints, { lazy: { enabled: true, closeMs: 20 }, onClose });
      const trpc = clientOf(wsLink({ client }));
      await trpc.hello.query();
      await vi.waitFor(() => expect(onClose).toHaveBeenCalled());
      expect(await trpc.hello.query()).toBe('Hello, world!');
      expect(contexts).toHaveLength(2);
    });

    it.each([
      ['that is not JSON', '{'],
      ['that is not an object', '5'],
      ['with an unknown method', '{"id":1,"method":"dance","params":{"path":"hello"}}'],
      ['without params', '{"id":1,"method":"query"}'],
      ['with a path that is not a string', '{"id":1,"method":"query","params":{"path":5}}'],
      ['with an id that is an object', '{"id":{},"method":"query","params":{"path":"hello"}}'],
      ['with another jsonrpc version', '{"id":1,"jsonrpc":"1.0","method":"query","params":{"path":"hello"}}'],
      ['in a batch with an invalid message', '[{"id":1,"method":"query","params":{"path":"hello"}},5]'],
    ])('a message %s is PARSE_ERROR with id null, and the WebSocket stays open', async (_name, message) => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send(message);
      socket.send('{"id":9,"method":"query","params":{"path":"hello"}}');
      await vi.waitFor(() => expect(messages).toHaveLength(2));
      expect(messages.map(parsed)).toMatchObject([
        { id: null, error: { code: -32700, data: { code: 'PARSE_ERROR' } } },
        { id: 9, result: { type: 'data', data: 'Hello, world!' } },
      ]);
    });

    it('a request with id null is answered with an error with id null', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send('{"id":null,"method":"query","params":{"path":"hello"}}');
      await vi.waitFor(() => expect(messages).toHaveLength(1));
      expect(parsed(messages[0])).toMatchObject({ id: null, error: { message: '`id` is required' } });
    });

    it('subscription.stop for an unknown id is ignored', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send('{"id":77,"method":"subscription.stop"}');
      socket.send('{"id":1,"method":"query","params":{"path":"hello"}}');
      await vi.waitFor(() => expect(messages).toHaveLength(1));
    });

    it('a second subscription with the id of a running one is rejected', async () => {
      const { endpoints, calls } = await start();
      const { socket, messages } = await open(endpoints);
      const subscribe = '{"id":1,"method":"subscription","params":{"path":"watch"}}';
      socket.send(subscribe);
      socket.send(subscribe);
      await vi.waitFor(() => expect(messages.join()).toContain('Duplicate id 1'));
      expect(calls.count).toBe(1);
    });

    it('a mutation called as a query is NOT_FOUND', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      socket.send('{"id":1,"method":"query","params":{"path":"write","input":{"name":"x"}}}');
      await vi.waitFor(() => expect(messages).toHaveLength(1));
      expect(parsed(messages[0])).toMatchObject({
        error: { message: 'No "query"-procedure on path "write"', data: { code: 'NOT_FOUND' } },
      });
    });

    it('a message of 64 KiB is accepted', async () => {
      const { endpoints } = await start();
      const { socket, messages } = await open(endpoints);
      const message = '{"id":1,"method":"query","params":{"path":"hello"}}';
      socket.send(message.padEnd(65_536));
      await vi.waitFor(() => expect(messages).toHaveLength(1));
    });

    it('a client’s close frame is answered with the same code', async () => {
      const { endpoints } = await start();
      const { socket, closed } = await open(endpoints);
      socket.close(4001, 'enough');
      expect(await closed).toMatchObject({ code: 4001 });
    });

    it('a ping frame is answered with a pong frame with the same bytes', async () => {
      const { endpoints } = await start();
      const { socket } = await open(endpoints);
      const pong = new Promise<string>((resolve) => {
        socket.once('pong', (data) => resolve(data.toString()));
      });
      socket.ping('are you there');
      expect(await pong).toBe('are you there');
    });
  });
}
