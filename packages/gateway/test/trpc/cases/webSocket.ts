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

/** Features of WebSockets: connectionParams, reconnection, close codes. */
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
