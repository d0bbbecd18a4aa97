import type { Server } from 'node:net';
import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { Drain } from '../server/drain.ts';
import { OpenSockets } from '../server/openSockets.ts';
import { requireService, type Listening } from '../server/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { noLimits, type NodeHandlerOptions } from './nodeHandler.ts';
import { prefixRemover } from './prefix.ts';
import { Responder } from './responder.ts';
import { attachWebSockets } from './webSockets.ts';

/** The WebSockets of a gateway on a server of yours. */
export interface Upgrades extends Pick<Listening, 'inFlight'> {
  /** How many WebSockets are open. */
  connections(): number;
  /**
   * Closes the WebSockets once their calls are answered, and opens no more: call it before the server's own `close`, which
   * waits for them.
   * @param options `deadlineMs`: how long calls in flight may take. Default: 10 s
   * @returns how many calls were cut off at the deadline
   */
  close(options?: { readonly deadlineMs?: number }): Promise<number>;
}

/**
 * Opens the WebSockets of a gateway on a server of yours, `node:http` or `node:https`, beside `nodeHandler`:
 * `handleUpgrades(server, gateway)`. Paths that are not the gateway's are left to the server's other `upgrade` listeners,
 * such as Vite's or socket.io's.
 * Of several gateways on one server, each opens those of its own paths.
 * @param server what `createServer` or `app.listen` returns
 */
export function handleUpgrades(server: Server, service: Service, options: NodeHandlerOptions = {}): Upgrades {
  requireService('handleUpgrades', service, 'server, ');
  const { maxBodyBytes = defaultBodyBytes, maxStreamBytes = maxBodyBytes } = service;
  const limits = { ...noLimits, maxBodyBytes, maxStreamBytes };
  const withoutPrefix = prefixRemover(options.prefix);
  const sockets = new OpenSockets({});
  const drain = new Drain();
  const responder = new Responder(service.handle, Infinity, drain.changed);
  const end = attachWebSockets(server, {
    service,
    sockets,
    responder,
    receive(message, res) {
      const url = message.url ?? '';
      return new MountedRequest(message, res, withoutPrefix(url) ?? url, limits);
    },
    serves(url) {
      const path = withoutPrefix(url)?.split('?', 1)[0];
      return path !== undefined && service.serves?.(path) !== false;
    },
  });

  async function stop({ deadlineMs = 10_000 }: { readonly deadlineMs?: number }): Promise<number> {
    sockets.drain();
    const calls = () => responder.inFlight + sockets.size;
    await drain.wait({ connections: () => 0, calls }, { deadlineMs });
    const cutOff = responder.inFlight + sockets.inFlight;
    sockets.closeAll();
    end();
    return cutOff;
  }

  let stopped: Promise<number> | undefined;
  return {
    inFlight: () => responder.inFlight + sockets.inFlight,
    connections: () => sockets.size,
    close: (closeOptions = {}) => (stopped ??= stop(closeOptions)),
  };
}
