import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Returns the bytes of a request, for tests that send what HTTP clients cannot. */
export function rawRequest(
  target: string,
  { method = 'GET', headers = {}, body = '' }: RawParts = {},
): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method !== 'GET') lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export interface RawParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Connects to 127.0.0.1 and sends these bytes. Socket errors are ignored: tests cause them on purpose. */
export function rawSocket(port: number, bytes: string): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

/** Sends bytes on a new connection. Resolves with the first bytes of the response; `undefined` if there is none. */
export async function firstBytesOf(port: number, bytes: string): Promise<string | undefined> {
  const socket = rawSocket(port, bytes);
  const closed = once(socket, 'close').then(() => []);
  const [first] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer?];
  socket.destroy();
  return first?.toString();
}

/** Returns the upgrade request of a WebSocket client. */
export const upgradeRequest = (target: string, headers: RawParts['headers'] = {}): string =>
  rawRequest(target, {
    headers: {
      ...headers,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  });
