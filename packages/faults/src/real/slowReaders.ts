import { connect } from 'node:net';

/** How many clients read a channel without reading from their connections, and what is published to it. */
const readers = 8;
const events = 60;
const eventLength = 90_000;

/** Opens streams whose clients read nothing, and publishes to them more than a connection holds. @returns a function that ends them */
export async function openSlowReaders(origin: string): Promise<() => void> {
  const { host, hostname, port } = new URL(origin);
  const head = `Host: ${host}\r\nAuthorization: Bearer slow\r\n`;
  const sockets = Array.from({ length: readers }, () => {
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => {});
    socket.write(`GET /v1/channels/slow HTTP/1.1\r\n${head}Accept: text/event-stream\r\n\r\n`);
    return socket;
  });
  const body = JSON.stringify({ event: 'x'.repeat(eventLength) });
  const headers = { authorization: 'Bearer slow', 'content-type': 'application/json' };
  for (let at = 0; at < events; at += 1)
    await fetch(`${origin}/v1/channels/slow`, { method: 'POST', headers, body }).then(
      (response) => response.text(),
      () => {},
    );
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
