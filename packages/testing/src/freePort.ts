import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A free port of 127.0.0.1, for a process that needs its port before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // What listens on a port has no other kind of address.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
