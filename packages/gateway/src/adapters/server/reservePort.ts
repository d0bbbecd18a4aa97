import { once } from 'node:events';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { ListenError } from './listenError.ts';

export interface ReservedPort {
  readonly port: number;
  /** Call it once a server listens. */
  readonly release: () => void;
}

/**
 * Checks with Node that the address can be listened on. uWS reports no reason for a failure, and with SO_REUSEPORT, its
 * default on Linux, it shares a port with any other server of uWS. With `reusePort`, processes that all set it share one.
 *
 * Port 0 is chosen here too. uWebSockets.js 20 sets SO_REUSEPORT and SO_REUSEADDR only for a port that it is given: on one
 * that it chooses, no server can start again for the minute that closed connections linger.
 * @throws {ListenError} where it cannot be listened on
 */
export async function reservePort(host: string, port: number, reusePort = false): Promise<ReservedPort> {
  try {
    if (port !== 0) {
      const probe = await listen({ host, port, exclusive: true, reusePort });
      await once(probe.close(), 'close');
      return { port, release: () => {} };
    }
    // Held until a server listens too, so that no other process gets it.
    const holder = await listen({ host, port, reusePort: true });
    return { port: (holder.address() as AddressInfo).port, release: () => holder.close() };
  } catch (error) {
    // Where ports cannot be shared (macOS, Windows) uWS chooses one.
    if ((error as NodeJS.ErrnoException).code === 'ENOTSUP') return { port, release: () => {} };
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
}

async function listen(options: ListenOptions): Promise<Server> {
  const server = createServer().listen(options);
  await once(server, 'listening');
  return server;
}
