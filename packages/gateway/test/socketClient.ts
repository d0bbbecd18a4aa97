import { on, once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Server } from './listen.ts';
import { needs } from './servers.ts';

/** Sends messages of tRPC on one WebSocket, which is opened again after it was closed. */
export function socketClient({ origin }: Pick<Server, 'origin'>) {
  let socket: WebSocket | undefined;
  async function open(): Promise<WebSocket> {
    if (socket?.readyState === WebSocket.OPEN) return socket;
    const opened = new WebSocket(`${origin.replace('http', 'ws')}/trpc`, { maxPayload: 0 });
    await new Promise((resolve, reject) => opened.on('open', resolve).on('error', reject));
    return (socket = opened);
  }
  return {
    /** Returns the first `count` messages after the sent one. */
    async exchange(message: string, count = 1): Promise<readonly Buffer[]> {
      const opened = await open();
      const received: Buffer[] = [];
      await new Promise<void>((resolve, reject) => {
        opened.removeAllListeners('message').removeAllListeners('close');
        opened.on('close', (code) => reject(new Error(`The WebSocket was closed with ${code}.`)));
        opened.on('message', (data: Buffer) => {
          if (received.push(data) === count) resolve();
        });
        opened.send(message);
      });
      return received;
    },
    terminate: (): void => socket?.terminate(),
  };
}

/** Opens a WebSocket until the test ends, and collects the messages that it receives. */
export function openSocket(
  { origin }: Pick<Server, 'origin'>,
  target = '/trpc',
  headers: Readonly<Record<string, string>> = {},
) {
  needs('WebSockets');
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${target}`, { headers });
  onTestFinished(() => socket.terminate());
  const messages: unknown[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  /** Sends a message as JSON, once the socket is open. */
  const send = (message: unknown) => {
    const json = JSON.stringify(message);
    if (socket.readyState === WebSocket.OPEN) socket.send(json);
    else socket.once('open', () => socket.send(json));
  };
  return {
    socket,
    messages,
    send,
    /** Sends a message. Resolves with the next message from the server. */
    call: async (message: object): Promise<unknown> => {
      send(message);
      const [data] = (await once(socket, 'message')) as [Buffer];
      return JSON.parse(data.toString());
    },
    /** Resolves with 101, or with the status of the rejected upgrade; 0 if the connection fails. */
    status: new Promise<number>((resolve) => {
      socket.on('open', () => resolve(101));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('error', () => resolve(0));
    }),
    /** Resolves with the code and the reason of the close. */
    closed: new Promise<readonly [code: number, reason: string]>((resolve) => {
      socket.on('close', (code, reason) => resolve([code, reason.toString()]));
    }),
  };
}

export const callMessage = (
  id: number,
  method: 'query' | 'mutation' | 'subscription',
  path: string,
  input?: unknown,
) => ({ id, jsonrpc: '2.0', method, params: { path, ...(input !== undefined && { input }) } });

/** Sends a call on a WebSocket of its own, and returns its messages until its error. */
export async function messagesUntilError(
  server: Pick<Server, 'origin'>,
  method: string,
  path: string,
): Promise<string> {
  const { send, socket } = openSocket(server);
  send({ id: 1, method, params: { path } });
  let text = '';
  for await (const [data] of on(socket, 'message', { close: ['close'] })) {
    text += String(data);
    if (text.includes('"error"')) break;
  }
  return text;
}
