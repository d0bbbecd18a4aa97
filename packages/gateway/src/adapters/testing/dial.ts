import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../http/response.ts';
import type { Handle, Service } from '../../http/service.ts';
import { serve as serveOnNode } from '../node/serve.ts';
import type { Listening, ServeOptions } from '../serve/serveOptions.ts';

type Serve<T extends Listening> = (service: Service, options?: ServeOptions) => Promise<T>;

/** Returns a function that serves for the duration of the running test. */
export const listenOn =
  <T extends Listening>(serve: Serve<T>) =>
  async (service: Service | Handle, options?: ServeOptions): Promise<T> => {
    const listening = await serve(typeof service === 'function' ? { handle: service } : service, options);
    onTestFinished(async () => {
      await listening.close({ timeoutMs: 0 });
    });
    return listening;
  };

const describeAdapter = (adapter: string, serve: Serve<Listening>, source: string) => ({
  adapter,
  serve,
  listen: listenOn(serve),
  source,
});

/** Undefined if there is no binary for this version of Node. */
const uws = await import('../uws/serve.ts').catch((error: { readonly code?: string }) => {
  if (error.code === 'no-binary') return undefined;
  throw error;
});

const bun = 'Bun' in globalThis ? await import('../bun/serve.ts') : undefined;

/** The adapters that listen on a port. `listen` serves for the duration of the running test. */
export const adapters = bun
  ? [describeAdapter('Bun', bun.serve, '../bun/serve.ts')]
  : [
      ...(uws ? [describeAdapter('uWebSockets.js', uws.serve, '../uws/serve.ts')] : []),
      describeAdapter('node:http', serveOnNode, '../node/serve.ts'),
    ];

/** Takes a port, as a server of Node, for the duration of the running test. */
export async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A connection that collects the received data as text. */
export type TestConnection = Awaited<ReturnType<typeof dial>>;

/** Connects to a server for the running test, and sends `bytes` at once. */
export async function dial(
  { port }: Pick<Listening, 'port'>,
  bytes: string | Uint8Array = '',
  options: { allowHalfOpen?: boolean } = {},
) {
  const socket = connect({ ...options, port, host: '127.0.0.1' });
  onTestFinished(() => {
    socket.destroy();
  });
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => {});
  // A reset also counts as closed.
  const closed = once(socket, 'close').catch(() => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, text: () => received, closed };
}

/** Returns a handler that records the paths of its requests. */
export function recorded(handle: Handle) {
  const handled: string[] = [];
  const record: Handle = (request) => {
    handled.push(request.path);
    return handle(request);
  };
  return { handled, handle: record };
}

/** The body of a streamed response with these chunks. */
export async function* streamOf(...chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

export function blockFor(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

export const ok = (body?: HttpResponse['body']): HttpResponse => ({ status: 200, headers: [], body });
/** Matches the end of a streamed response with these chunks. Bun sends a stream that is complete at once with its length. */
export function streamed(...chunks: readonly string[]): RegExp {
  const text = chunks.join('');
  const sizeOf = (chunk: string) => chunk.length.toString(16);
  const separate = chunks.map((chunk) => `${sizeOf(chunk)}\r\n${chunk}\r\n`).join('');
  const framed = `(?:${separate}|${sizeOf(text)}\r\n${text}\r\n)0\r\n\r\n$`;
  const withLength = `\r\ncontent-length: ${text.length}\r\n(?:[^]*\r\n)?\r\n${text}$`;
  return new RegExp(bun ? withLength : `\r\n\r\n${framed}`, 'i');
}
export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
/** Sends a GET, and returns the first data of its response. */
export async function sendGet(socket: Socket): Promise<string> {
  socket.write(get('/'));
  const [data] = await once(socket, 'data');
  return String(data);
}
export const post = (body: string, length = body.length): string =>
  `POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
/** Returns the head of a POST request whose body is chunked. */
export const chunkedPost = (path = '/p'): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`;
/** Waits until a check no longer throws, at most 20 s: a machine may be busy. */
export const until = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { interval: 5 });
