import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Server } from './listen.ts';

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

/** Returns the status of the request that opens a WebSocket. */
export async function upgradeStatus(
  { origin }: Pick<Server, 'origin'>,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc`, { headers });
  try {
    return await new Promise<number>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('open', () => resolve(101));
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    });
  } finally {
    socket.terminate();
  }
}

/** Sends a call on a WebSocket of its own, and returns its messages until its error. */
export function messagesUntilError(
  { origin }: Pick<Server, 'origin'>,
  method: string,
  path: string,
): Promise<string> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc`);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    let text = '';
    socket.on('open', () => socket.send(JSON.stringify({ id: 1, method, params: { path } })));
    socket.on('close', () => resolve(text));
    socket.on('message', (data: Buffer) => {
      text += data.toString();
      if (text.includes('"error"')) resolve(text);
    });
  });
}
