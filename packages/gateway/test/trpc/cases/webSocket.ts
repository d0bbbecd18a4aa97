import { wsLink } from '@trpc/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../../servers.ts';
import { clientOf, wsClient, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

/** Opens a bare WebSocket and records the messages it receives. */
async function open(endpoints: Endpoints) {
  needs('WebSockets');
  const socket = new WebSocket(endpoints.ws);
  onTestFinished(() => socket.terminate());
  const messages: string[] = [];
  socket.on('message', (data) => messages.push((data as Buffer).toString()));
  const closed = new Promise<number>((resolve) => {
    socket.on('close', resolve);
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return { socket, messages, closed };
}

/** Features of WebSockets: reconnection, close codes, pings. */
export function webSocket(start: Start): void {
  it('a server that has just started serves 40 WebSockets that open at the same time', async () => {
    const { endpoints } = await start();
    const opened = await Promise.all(Array.from({ length: 40 }, () => open(endpoints)));
    for (const { socket } of opened) socket.send('{"id":1,"method":"query","params":{"path":"hello"}}');
    await vi.waitFor(() => expect(opened.every(({ messages }) => messages.length === 1)).toBe(true));
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

  it('a client’s close frame is answered with the same code', async () => {
    const { endpoints } = await start();
    const { socket, closed } = await open(endpoints);
    socket.close(4001, 'enough');
    expect(await closed).toBe(4001);
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
}
