import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../../http/response.ts';
import type { Handle, Service } from '../../../http/service.ts';
import { serve as serveOnNode } from '../../node/serve.ts';
import { serve as serveOnUws } from '../../uws/serve.ts';
import type { Listening, ServeOptions } from '../serveOptions.ts';

type Serve = typeof serveOnUws;

const listenOn =
  (serve: Serve) =>
  async (service: Service | Handle, options?: ServeOptions): Promise<Listening> => {
    const listening = await serve(typeof service === 'function' ? { handle: service } : service, options);
    onTestFinished(async () => {
      await listening.close({ deadlineMs: 0 });
    });
    return listening;
  };

/** The adapters that own a port, each with `listen`, which serves for the running test. */
export const adapters = [
  { adapter: 'uWebSockets.js', serve: serveOnUws, listen: listenOn(serveOnUws), module: '../uws/serve.ts' },
  { adapter: 'node:http', serve: serveOnNode, listen: listenOn(serveOnNode), module: '../node/serve.ts' },
] as const;

/** A connection that keeps all that comes, as text. */
export interface Dialled {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: Promise<unknown>;
}

export async function dial({ port }: Listening, options: { allowHalfOpen?: boolean } = {}): Promise<Dialled> {
  const socket = connect({ ...options, port, host: '127.0.0.1' });
  onTestFinished(() => {
    socket.destroy();
  });
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => {});
  // A reset is an end, too.
  const closed = once(socket, 'close').catch(() => {});
  await once(socket, 'connect');
  return { socket, text: () => received, closed };
}

export const ok = (body?: HttpResponse['body']): HttpResponse => ({ status: 200, headers: [], body });
export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
export const until = (check: () => unknown): Promise<unknown> =>
  vi.waitFor(check, { timeout: 5000, interval: 5 });
