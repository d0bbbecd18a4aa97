import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { applyWSSHandler } from '@trpc/server/adapters/ws';
import { WebSocketServer } from 'ws';
import { globalFetch } from '../listen.ts';
import type { ServeRpc } from './start.ts';

/** Serves tRPC's own adapters (standalone and ws) on one port, as the reference for the gateway. */
export const serveOfficial: ServeRpc = async ({
  router,
  createContext,
  onError = () => {},
  maxBodySize = 1_048_576,
}) => {
  const server = createHTTPServer({
    router,
    basePath: '/trpc/',
    createContext,
    maxBodySize,
    onError,
  });
  const sockets = new WebSocketServer({ server, maxPayload: maxBodySize });
  applyWSSHandler({
    wss: sockets,
    prefix: '/trpc',
    router,
    createContext,
    onError,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${address.port}`,
    fetch: globalFetch,
    port: address.port,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
};
