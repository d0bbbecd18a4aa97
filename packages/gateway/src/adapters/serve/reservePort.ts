import { once } from 'node:events';
import { createServer, type AddressInfo, type ListenOptions, type Server } from 'node:net';
import { ListenError } from './listenError.ts';
import { withoutBrackets } from './serveOptions.ts';

/** A port that no other process can take until it is released. */
export interface ReservedPort {
  readonly port: number;
  /** Call it when your server listens on the port. */
  readonly release: () => void;
}

/**
 * Checks with Node that an address can be listened on, and chooses a port for 0. With `reusePort`, processes that set
 * it can share a port. uWS gives no reason for a failure, and shares a port with any uWS server by SO_REUSEPORT, its
 * default on Linux. uWebSockets.js 20 sets SO_REUSEPORT and SO_REUSEADDR only for a given port: on one of its own
 * choice, no server can start again for the minute that closed connections linger.
 * @throws {ListenError} if the address cannot be listened on
 */
export async function reservePort(address: string, port: number, reusePort = false): Promise<ReservedPort> {
  const host = withoutBrackets(address);
  try {
    if (port !== 0) {
      const probe = await openListener({ host, port, exclusive: true, reusePort });
      await once(probe.close(), 'close');
      return { port, release: () => {} };
    }
    // Held until a server listens on it, so that no other process gets it.
    const holder = await openListener({ host, port, reusePort: true });
    return { port: (holder.address() as AddressInfo).port, release: () => holder.close() };
  } catch (error) {
    // macOS and Windows cannot share ports: uWS chooses the port.
    if ((error as NodeJS.ErrnoException).code === 'ENOTSUP') return { port, release: () => {} };
    throw ListenError.from(error as NodeJS.ErrnoException, host, port);
  }
}

async function openListener(options: ListenOptions): Promise<Server> {
  const server = createServer().listen(options);
  await once(server, 'listening');
  return server;
}
