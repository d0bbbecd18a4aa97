import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux (from 32768), macOS and Windows (from 49152) give to connections and to `listen(0)`:
 * none takes such a port before its process listens, nor while a test restarts that.
 */
const PORTS = { first: 10_240, last: 32_767 };

/** A free port of 127.0.0.1, for a process that needs its port before it starts. */
export async function freePort(): Promise<number> {
  const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first + 1));
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return freePort();
  }
  server.close();
  await once(server, 'close');
  return port;
}
