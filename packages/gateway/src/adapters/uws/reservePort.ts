import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { ListenError } from './listenError.ts';

export interface ReservedPort {
  readonly port: number;
  /** To be called once uWS listens. */
  readonly release: () => void;
}

/**
 * Asks Node whether the address can be listened on: uWS only says that it cannot, and with SO_REUSEPORT, its default on
 * Linux, a port that another server of uWS has is no obstacle to it.
 *
 * With `reusePort` only who does not share is an obstacle: one process each core can then listen on one port (Linux).
 *
 * Any free port, 0, is picked here too. uWebSockets.js 20 sets SO_REUSEPORT and SO_REUSEADDR only for a port that it is
 * told: on one that it picks itself no server can be started anew while connections that it closed linger, a minute.
 * @throws {ListenError} where it cannot
 */
export async function reservePort(host: string, port: number, reusePort = false): Promise<ReservedPort> {
  try {
    if (port !== 0) {
      const probe = await listen({ host, port, exclusive: true, reusePort });
      await new Promise<void>((resolve) => probe.close(() => resolve()));
      return { port, release: () => {} };
    }
    // Held until uWS has it too, so that nobody else is given it.
    const holder = await listen({ host, port, reusePort: true });
    return { port: (holder.address() as AddressInfo).port, release: () => holder.close() };
  } catch (error) {
    // Where ports cannot be shared (macOS, Windows) uWS picks one.
    if ((error as NodeJS.ErrnoException).code === 'ENOTSUP') return { port, release: () => {} };
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
}

async function listen(options: ListenOptions): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, resolve);
  });
  return server;
}
