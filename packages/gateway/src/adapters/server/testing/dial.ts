import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../../http/response.ts';
import type { Handle, Service } from '../../../http/service.ts';
import { serve as serveOnNode } from '../../node/serve.ts';
import type { Listening, ServeOptions } from '../serveOptions.ts';

type Serve = typeof serveOnNode;

/** Serves for the running test. */
export const listenOn =
  (serve: Serve) =>
  async (service: Service | Handle, options?: ServeOptions): Promise<Listening> => {
    const listening = await serve(typeof service === 'function' ? { handle: service } : service, options);
    onTestFinished(async () => {
      await listening.close({ deadlineMs: 0 });
    });
    return listening;
  };

const named = (adapter: string, serve: Serve, source: string) => ({
  adapter,
  serve,
  listen: listenOn(serve),
  source,
});

/** Not on a Node for which there is no binary. */
const uws = await import('../../uws/serve.ts').catch((error: { readonly code?: string }) => {
  if (error.code === 'no-binary') return undefined;
  throw error;
});

/** The adapters that own a port, each with `listen`, which serves for the running test. */
export const adapters = [
  ...(uws ? [named('uWebSockets.js', uws.serve, '../uws/serve.ts')] : []),
  named('node:http', serveOnNode, '../node/serve.ts'),
];

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
