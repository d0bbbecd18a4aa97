import type { Server } from 'node:net';
import type { Service } from '../../http/service.ts';
import { createListening } from '../serve/createListening.ts';
import { OpenSockets } from '../serve/openSockets.ts';
import { requestLimits, requireService, type Listening } from '../serve/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { NodeResponder } from './responder.ts';
import { attachWebSockets } from './webSockets.ts';

/** The WebSockets of a gateway on your own server. */
export interface Upgrades extends Pick<Listening, 'inFlight'> {
  /** Returns the number of open WebSockets. */
  connections(): number;
  /**
   * Stops accepting WebSockets, and closes each open one after its calls have completed. Call it before `close` of the
   * server, which waits for them.
   * @param options `timeoutMs`: maximum time for calls in flight, in milliseconds. Default: 10000
   * @returns the number of calls that were cut off at the deadline
   */
  close(options?: { readonly timeoutMs?: number }): Promise<number>;
}

/**
 * Serves the WebSockets of a gateway on your own `node:http` or `node:https` server, next to `nodeHandler`:
 * `handleUpgrades(server, gateway)`. Upgrades of other paths are left to the other `upgrade` listeners of the server,
 * such as those of Vite, socket.io or another gateway.
 * @param server the server that `createServer` or `app.listen` returns
 * @throws {GatewayError} if `service` is not a gateway, such as the promise of one
 */
export function handleUpgrades(server: Server, service: Service): Upgrades {
  requireService('handleUpgrades', service);
  const limits = requestLimits(service);
  const sockets = new OpenSockets(service);
  const responder = new NodeResponder(service);
  const end = attachWebSockets(server, {
    service,
    sockets,
    responder,
    receive: (message, res) => new MountedRequest(message, res, limits),
    serves: (url) => service.serves?.(url.split('?', 1)[0] ?? '') !== false,
  });

  const { inFlight, close } = createListening({
    responder,
    sockets,
    connections: () => 0,
    stopListening: () => {},
    end,
  });
  return { inFlight, close, connections: () => sockets.size };
}
