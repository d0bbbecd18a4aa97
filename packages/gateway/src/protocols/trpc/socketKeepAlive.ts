import type { EventEmitter } from 'node:events';
import { handleKeepAlive } from '@trpc/server/adapters/ws';
import type { SocketOptions } from './options.ts';

interface Client extends EventEmitter {
  send(message: string): void;
  terminate(): void;
}

/**
 * Pings a client that is quiet, and ends one that does not answer, as tRPC's connection handler does, which is not given
 * every message: of each, the client is to emit `any message`.
 */
export function keepAlive(client: Client, options: NonNullable<SocketOptions['keepAlive']>): void {
  // What it uses of a socket of the package ws.
  const watched = {
    on: (event: string, listener: () => void) =>
      client.on(event === 'message' ? 'any message' : event, listener),
    send: (message: string) => client.send(message),
    terminate: () => client.terminate(),
  };
  type Watched = Parameters<typeof handleKeepAlive>[0];
  handleKeepAlive(watched as unknown as Watched, options.pingMs, options.pongWaitMs);
}
