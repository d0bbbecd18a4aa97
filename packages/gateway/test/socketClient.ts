import { on } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Server } from './listen.ts';
import { needs } from './servers.ts';

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
  const exchange = async (message: unknown, count = 1): Promise<readonly unknown[]> => {
    const before = messages.length;
    send(message);
    for await (const _ of on(socket, 'message', { close: ['close'] })) {
      if (messages.length >= before + count) return messages.slice(before);
    }
    throw new Error('The WebSocket was closed.');
  };
  return {
    socket,
    messages,
    send,
    /** Sends a message. Resolves with the next `count` messages from the server. */
    exchange,
    /** Sends a message. Resolves with the next message from the server. */
    call: async (message: object): Promise<unknown> => (await exchange(message))[0],
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
