import { connect, type Socket } from 'node:net';

/** A request as bytes: for what no client would send, or not at that moment. */
export function rawRequest(
  target: string,
  { method = 'GET', headers = {}, body = '', length = Buffer.byteLength(body) }: RawParts = {},
): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (method !== 'GET') lines.push(`content-length: ${length}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export interface RawParts {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What is announced, where it is not what is sent. */
  readonly length?: number;
}

/** Connects and sends these bytes. What goes wrong on it afterwards is the test's intention. */
export function rawSocket(port: number, bytes: string): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}

/** What a client sends to become a WebSocket. */
export const upgradeRequest = (target: string): string =>
  rawRequest(target, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  });
