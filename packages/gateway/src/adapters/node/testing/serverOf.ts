import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { onTestFinished } from 'vitest';

/** Starts a server of the user for the duration of the running test. */
export async function serverOf(listener: RequestListener, options: ServerOptions = {}): Promise<Server> {
  const server = createServer(options, listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return server;
}
